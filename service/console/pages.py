"""The console's addresses, and what every answer of it has in common: filters, security headers, error pages."""

from __future__ import annotations

from typing import Final, Never

from flask import Blueprint, Response, render_template, request
from flask.blueprints import BlueprintSetupState
from flask.typing import ResponseReturnValue
from jinja2 import StrictUndefined
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from werkzeug.exceptions import HTTPException, NotFound

from policies.errors import NnfleetError, NotKnown
from service.console import audit, classes, explain, fleet, jobs, models, releases, revisions, rollouts, telemetry
from service.console.formats import FILTERS
from service.console.navigation import NAVIGATION
from service.console.paging import here

PREFIX: Final = "/console"
blueprint = Blueprint(
    "console",
    __name__,
    url_prefix=PREFIX,
    template_folder="templates",
    static_folder="static",
    static_url_path="/static",
)

# Reports are written by strangers. Should a name of theirs ever get past the escaping, it still runs nothing.
CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS: Final = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}


@blueprint.after_app_request
def _secured(response: Response) -> Response:
    """For the whole app, so that the answers to addresses that are no page are covered as well."""
    if request.path == PREFIX or request.path.startswith(f"{PREFIX}/"):
        response.headers.update(_HEADERS)
        if request.endpoint != "console.static":
            response.headers["Cache-Control"] = "no-store"
    return response


@blueprint.record_once
def _set_up_templates(state: BlueprintSetupState) -> None:
    environment = state.app.jinja_env
    environment.filters.update(FILTERS)
    environment.globals.update(here=here, navigation=NAVIGATION)
    environment.undefined = StrictUndefined  # a misspelt name is an error, not an empty cell


def _error_page(status: int, title: str, detail: str) -> ResponseReturnValue:
    return render_template("console/error.html", status=status, title=title, detail=detail), status


@blueprint.errorhandler(NnfleetError)
def _our_error(error: NnfleetError) -> ResponseReturnValue:
    known = isinstance(error, NotKnown)
    return _error_page(404 if known else 422, "Not found" if known else "This cannot be shown", error.detail)


@blueprint.errorhandler(HTTPException)
def _http_error(error: HTTPException) -> ResponseReturnValue:
    return _error_page(error.code or 500, error.name, error.description or "")


@blueprint.errorhandler(OperationalError)
@blueprint.errorhandler(PoolTimeout)
def _database_error(_error: Exception) -> ResponseReturnValue:
    return _error_page(503, "The database does not answer", "Devices keep their last decision. Try again in a moment.")


def _no_page(missing: str) -> Never:
    raise NotFound(f"The console has no page “{missing}”.")


blueprint.add_url_rule("/", "fleet", fleet.page)
blueprint.add_url_rule("/classes", "classes", classes.list_page)
blueprint.add_url_rule("/classes/<device_class>", "device_class", classes.class_page)
blueprint.add_url_rule("/classes/<device_class>/since/<earlier>", "class_changes", classes.compare_page)
blueprint.add_url_rule("/models", "models", models.page)
blueprint.add_url_rule("/revisions", "revisions", revisions.list_page)
blueprint.add_url_rule("/revisions/<int:number>", "revision", revisions.revision_page)
blueprint.add_url_rule("/rollouts", "rollouts", rollouts.list_page)
blueprint.add_url_rule("/rollouts/<int:number>", "rollout", rollouts.rollout_page)
blueprint.add_url_rule("/releases", "releases", releases.list_page)
blueprint.add_url_rule("/releases/<int:number>", "release", releases.release_page)
blueprint.add_url_rule("/telemetry", "telemetry", telemetry.page)
blueprint.add_url_rule("/jobs", "jobs", jobs.list_page)
blueprint.add_url_rule("/jobs/<int:number>", "job_run", jobs.run_page)
blueprint.add_url_rule("/audit", "audit", audit.page)
blueprint.add_url_rule("/explain", "explain", explain.page)
blueprint.add_url_rule("/explain", "explain_pasted", explain.pasted, methods=["POST"])
blueprint.add_url_rule("/<path:missing>", "missing", _no_page)
