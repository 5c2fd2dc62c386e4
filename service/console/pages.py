"""The console's addresses, and what every answer of it has in common: filters, security headers, error pages."""

from __future__ import annotations

import secrets
from typing import Any, Final, Never

import structlog
from flask import Blueprint, Response, g, render_template, request
from flask.blueprints import BlueprintSetupState
from flask.typing import ResponseReturnValue
from jinja2 import StrictUndefined
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from werkzeug.exceptions import HTTPException, NotFound

from policies.errors import NnfleetError
from service.console import (
    account,
    audit,
    classes,
    explain,
    files,
    findings,
    fleet,
    jobs,
    keys,
    login,
    model,
    model_editor,
    models,
    own_simulation,
    provider,
    quarantines,
    recommendations,
    releases,
    reviews,
    revisions,
    rollouts,
    settings,
    telemetry,
    texts,
    users,
    visitor,
)
from service.console.formats import FILTERS
from service.console.paging import PREFIX, here
from service.console.watching import HEADER, swapping
from service.context import services
from service.web.problems import STATUS

log = structlog.get_logger(__name__)

blueprint = Blueprint(
    "console",
    __name__,
    url_prefix=PREFIX,
    template_folder="templates",
    static_folder="static",
    static_url_path="/static",
)

# Reports are written by strangers. Should a name of theirs ever get past the escaping, it still runs nothing: the only
# script is the one that carries the nonce of its page.
CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
HTMX: Final[dict[str, Any]] = {
    "allowEval": False,
    "allowScriptTags": False,
    "includeIndicatorStyles": False,
    "selfRequestsOnly": True,
    # Pages are not to be stored: going back asks the server again.
    "historyCacheSize": 0,
    "refreshOnHistoryMiss": True,
    # A form that comes back with its faults is swapped like any answer; another error takes the place of the page.
    "responseHandling": [
        {"code": "204", "swap": False},
        {"code": "[23]..|409|422", "swap": True},
        {
            "code": "...",
            "swap": True,
            "error": True,
            "target": "#content",
            "select": "#content",
            "swapOverride": "outerHTML",
        },
    ],
}
"""Configuration of htmx, which makes pages follow without being loaded anew."""
HSTS_S: Final = 365 * 24 * 3600
MOST_FORM_BYTES: Final = 4 * 1024 * 1024
_HEADERS: Final = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}


@blueprint.after_app_request
def _secured(response: Response) -> Response:
    """For the whole app, so that the answers to addresses that are no page are covered as well."""
    if request.path == PREFIX or request.path.startswith(f"{PREFIX}/"):
        response.headers.update(_HEADERS)
        if swapping() and response.status_code == 200:
            response.headers["HX-Push-Url"] = here()
        if nonce := g.get("script_nonce"):
            response.headers["Content-Security-Policy"] += f"; script-src 'nonce-{nonce}'"
        if visitor.only_https(services().settings):
            response.headers["Strict-Transport-Security"] = f"max-age={HSTS_S}"
        if request.endpoint != "console.static":
            response.headers["Cache-Control"] = "no-store"
    return response


def _script_nonce() -> str:
    """What the one script of this page carries."""
    g.script_nonce = secrets.token_urlsafe(16)
    return str(g.script_nonce)


@blueprint.record_once
def _set_up_templates(state: BlueprintSetupState) -> None:
    environment = state.app.jinja_env
    environment.filters.update(FILTERS)
    environment.globals.update(
        here=here,
        navigation=visitor.navigation,
        visitor=visitor.visitor,
        may=visitor.may,
        provider=provider.offered,
        htmx=HTMX,
        script_nonce=_script_nonce,
        watching_header=HEADER,
    )
    environment.undefined = StrictUndefined  # a misspelt name is an error, not an empty cell


@blueprint.before_request
def _from_our_own_form() -> ResponseReturnValue | None:
    """Every form that changes something carries a token: another site cannot send one in a visitor's name."""
    request.max_content_length = request.max_form_memory_size = MOST_FORM_BYTES
    refused = files.make_ready() if request.endpoint == "console.upload_file" else None
    if refused is None:
        visitor.csrf.protect()
    return refused


def _error_page(status: int, title: str, detail: str) -> ResponseReturnValue:
    return render_template("console/error.html", status=status, title=title, detail=detail), status


@blueprint.errorhandler(NnfleetError)
def _our_error(error: NnfleetError) -> ResponseReturnValue:
    status = next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)
    cannot = "This cannot be shown" if request.method == "GET" else "This was not done"
    return _error_page(status, _TITLES.get(status, cannot), error.detail)


@blueprint.errorhandler(HTTPException)
def _http_error(error: HTTPException) -> ResponseReturnValue:
    return _error_page(error.code or 500, error.name, error.description or "")


@blueprint.errorhandler(OperationalError)
@blueprint.errorhandler(PoolTimeout)
def _database_error(_error: Exception) -> ResponseReturnValue:
    return _error_page(503, "The database does not answer", "Devices keep their last decision. Try again in a moment.")


@blueprint.errorhandler(Exception)
def _unexpected(error: Exception) -> ResponseReturnValue:
    log.exception("unexpected-error", error=repr(error))
    return _error_page(500, "Something went wrong here", "It was logged. What you asked for was not done.")


_TITLES: Final = {401: "Sign in first", 403: "Not allowed", 404: "Not found"}


def _no_page(missing: str) -> Never:
    raise NotFound(f"The console has no page “{missing}”.")


blueprint.add_url_rule("/", "fleet", fleet.page)
blueprint.add_url_rule("/classes", "classes", classes.list_page)
blueprint.add_url_rule("/classes/<device_class>", "device_class", classes.class_page)
blueprint.add_url_rule("/classes/<device_class>/since/<earlier>", "class_changes", classes.compare_page)
blueprint.add_url_rule("/models", "models", models.page)
blueprint.add_url_rule("/models/<app>/<model>", "model", model.page)
blueprint.add_url_rule("/models/new", "new_model", model_editor.new)
blueprint.add_url_rule("/models/<app>/<model>/edit", "edit_model", model_editor.page)
blueprint.add_url_rule("/models/<app>/<model>/edit", "state_model", model_editor.edit, methods=["POST"])
blueprint.add_url_rule("/files", "files", files.list_page)
blueprint.add_url_rule("/files", "upload_file", files.upload, methods=["POST"])
blueprint.add_url_rule("/files/<sha256>", "file", files.file_page)
blueprint.add_url_rule("/findings", "findings", findings.list_page)
blueprint.add_url_rule("/findings/<finding>", "finding", findings.finding_page)
blueprint.add_url_rule("/quarantines", "quarantines", quarantines.list_page)
blueprint.add_url_rule("/quarantines", "propose_quarantine", quarantines.propose, methods=["POST"])
blueprint.add_url_rule("/quarantines/new", "new_quarantine", quarantines.new_page)
blueprint.add_url_rule("/quarantines/new", "preview_quarantine", quarantines.preview, methods=["POST"])
blueprint.add_url_rule("/quarantines/<quarantine>/end", "end_quarantine", quarantines.lift, methods=["POST"])
blueprint.add_url_rule("/kill", "kill_switch", quarantines.kill_page)
blueprint.add_url_rule("/kill", "kill", quarantines.switch_off, methods=["POST"])
blueprint.add_url_rule("/recommendations", "recommendations", recommendations.list_page)
blueprint.add_url_rule("/recommendations/<int:number>", "recommendation", recommendations.run_page)
blueprint.add_url_rule("/revisions", "revisions", revisions.list_page)
blueprint.add_url_rule("/revisions/<int:number>", "revision", revisions.revision_page)
blueprint.add_url_rule("/revisions/<int:number>/submit", "submit", reviews.submit, methods=["POST"])
blueprint.add_url_rule("/revisions/<int:number>/withdraw", "withdraw", reviews.withdraw, methods=["POST"])
blueprint.add_url_rule("/revisions/<int:number>/approve", "approve", reviews.approve, methods=["POST"])
blueprint.add_url_rule("/revisions/<int:number>/reject", "reject", reviews.reject, methods=["POST"])
blueprint.add_url_rule("/revisions/<int:number>/comment", "comment", reviews.comment, methods=["POST"])
blueprint.add_url_rule("/revisions/<int:number>/simulate", "simulate", reviews.simulate, methods=["POST"])
blueprint.add_url_rule("/simulations/own", "own_simulation", own_simulation.page)
blueprint.add_url_rule("/reviews", "reviews", reviews.list_page)
blueprint.add_url_rule("/policies", "policies", texts.policies.list_page)
blueprint.add_url_rule("/policies/new", "new_policy", texts.policies.new)
blueprint.add_url_rule("/policies/<app>", "policy", texts.policies.page)
blueprint.add_url_rule("/policies/<app>", "edit_policy", texts.policies.edit, methods=["POST"])
blueprint.add_url_rule("/policies/<app>/changes", "policy_changes", texts.policies.changes_page)
blueprint.add_url_rule("/policies/<app>/policy.yaml", "policy_file", texts.policies.export)
blueprint.add_url_rule("/flags", "flags", texts.flags.list_page)
blueprint.add_url_rule("/flags/new", "new_flags", texts.flags.new)
blueprint.add_url_rule("/flags/<app>", "app_flags", texts.flags.page)
blueprint.add_url_rule("/flags/<app>", "edit_flags", texts.flags.edit, methods=["POST"])
blueprint.add_url_rule("/flags/<app>/changes", "flags_changes", texts.flags.changes_page)
blueprint.add_url_rule("/flags/<app>/flags.yaml", "flags_file", texts.flags.export)
blueprint.add_url_rule("/rollouts", "rollouts", rollouts.list_page)
blueprint.add_url_rule("/rollouts/<int:number>", "rollout", rollouts.rollout_page)
blueprint.add_url_rule("/rollouts", "start_rollout", rollouts.begin, methods=["POST"])
blueprint.add_url_rule("/rollouts/<int:number>/<act>", "steer_rollout", rollouts.take, methods=["POST"])
blueprint.add_url_rule("/releases", "releases", releases.list_page)
blueprint.add_url_rule("/releases/<int:number>", "release", releases.release_page)
blueprint.add_url_rule("/releases", "publish", releases.publish_approved, methods=["POST"])
blueprint.add_url_rule("/releases/<int:number>/roll-back", "roll_back", releases.go_back, methods=["POST"])
blueprint.add_url_rule("/telemetry", "telemetry", telemetry.page)
blueprint.add_url_rule("/jobs", "jobs", jobs.list_page)
blueprint.add_url_rule("/jobs/<int:number>", "job_run", jobs.run_page)
blueprint.add_url_rule("/jobs", "run_job", jobs.run_now, methods=["POST"])
blueprint.add_url_rule("/audit", "audit", audit.page)
blueprint.add_url_rule("/explain", "explain", explain.page)
blueprint.add_url_rule("/explain", "explain_pasted", explain.pasted, methods=["POST"])
blueprint.add_url_rule("/login", "login", login.page)
blueprint.add_url_rule("/login", "log_in", login.log_in, methods=["POST"])
blueprint.add_url_rule("/login/provider", "provider", provider.start)
blueprint.add_url_rule("/login/provider/back", "provider_back", provider.back)
blueprint.add_url_rule("/account", "account", account.page)
blueprint.add_url_rule("/account/password", "change_password", account.change_password, methods=["POST"])
blueprint.add_url_rule("/account/sessions/end", "end_own_sessions", account.end_sessions, methods=["POST"])
blueprint.add_url_rule("/keys", "keys", keys.list_page)
blueprint.add_url_rule("/keys", "create_key", keys.create, methods=["POST"])
blueprint.add_url_rule("/keys/revoke", "revoke_key", keys.revoke, methods=["POST"])
blueprint.add_url_rule("/users", "users", users.list_page)
blueprint.add_url_rule("/users", "create_user", users.create, methods=["POST"])
blueprint.add_url_rule("/users/<name>", "user", users.user_page)
blueprint.add_url_rule("/users/<name>/role", "set_role", users.set_role, methods=["POST"])
blueprint.add_url_rule("/users/<name>/apps", "set_apps", users.set_apps, methods=["POST"])
blueprint.add_url_rule("/users/<name>/disable", "disable_user", users.disable, methods=["POST"])
blueprint.add_url_rule("/users/<name>/enable", "enable_user", users.enable, methods=["POST"])
blueprint.add_url_rule("/users/<name>/sessions/end", "end_sessions", users.end_sessions, methods=["POST"])
blueprint.add_url_rule("/settings", "settings", settings.page)
blueprint.add_url_rule("/logout", "log_out", login.log_out, methods=["POST"])
blueprint.add_url_rule("/<path:missing>", "missing", _no_page)
