"""`POST /v1/simulations`: what a change would do to the stored fleet. Nothing is saved."""

from __future__ import annotations

from typing import Any, Final

from flask import Blueprint, jsonify, url_for
from flask.typing import ResponseReturnValue
from sqlmodel import Session

from policies.errors import InvalidField, UnknownSimulation
from policies.revision import Kind
from service import clock
from service.context import services
from service.live import release_asked
from service.releasing.stated_content import stated_content
from service.simulating.drafts import Draft
from service.simulating.limits import BUDGET_S, MOST_BUDGET_S
from service.simulating.simulations import Asked
from service.store import revisions
from service.store.simulation_runs import look, share_done
from service.web.bodies import app_of, object_body, whole_in
from service.web.door import actor, check_app

blueprint = Blueprint("simulations", __name__, url_prefix="/v1/simulations")
MOST_REVISION: Final = 2**31 - 1


@blueprint.post("")
def post_simulation() -> ResponseReturnValue:
    """Who would change from what to what: a policy, model or quarantine, or a revision, against the live release.

    Unless `wait` is false, the answer is what was found; else the number of a run to look at.
    """
    raw = object_body("kind", "content", "revision", "budget_s", "wait")
    wait = raw.get("wait", True)
    if not isinstance(wait, bool):
        raise InvalidField("wait: true or false", field="wait")
    draft = _stored(raw) if "revision" in raw else _stated(raw)
    check_app(app_of(draft.kind, dict(draft.content)))
    asked = Asked(draft, release_asked(None), clock.now(), _budget_s(raw), actor().name)
    if wait:
        return jsonify(services().simulations.run(asked))
    number = services().simulations.begin(asked)
    answer = jsonify(_looked_at(number))
    answer.headers["Location"] = url_for("simulations.get_simulation", number=number)
    return answer, 202


@blueprint.get("/<int:number>")
def get_simulation(number: int) -> ResponseReturnValue:
    """How far a simulation is, and what it found once it is done."""
    return jsonify(_looked_at(number))


def _looked_at(number: int) -> dict[str, Any]:
    with Session(services().engine) as session, session.begin():
        row = look(session, number, clock.now())
        if row is None:
            raise UnknownSimulation(f"there is no simulation {number}; old ones are dropped", field="simulation")
        check_app(row.app)
        return {
            "simulation": row.number,
            "state": row.state,
            "kind": row.kind,
            "asked_by": row.asked_by,
            "started_at": row.started_at.isoformat(),
            "ended_at": row.ended_at.isoformat() if row.ended_at else None,
            "reports_done": row.reports_done,
            "reports_left": row.reports_total - row.reports_done,
            "share_done": share_done(row),
            "found": row.found,
            "why": row.why,
        }


def _stated(raw: dict[str, Any]) -> Draft:
    with Session(services().engine) as session:
        kind, _, content = stated_content(session, raw.get("kind"), raw.get("content"))
    return Draft(kind, content)


def _stored(raw: dict[str, Any]) -> Draft:
    number = whole_in(raw, "revision")
    if raw.keys() & {"kind", "content"} or number is None or not 1 <= number <= MOST_REVISION:
        raise InvalidField("revision: the number of a revision, and then neither kind nor content", field="revision")
    with Session(services().engine) as session:
        row = revisions.revision(session, number)
        return Draft(Kind(row.kind), row.content)


def _budget_s(raw: dict[str, Any]) -> float:
    stated = raw.get("budget_s", BUDGET_S)
    number = isinstance(stated, int | float) and not isinstance(stated, bool)
    if not number or not 0 < stated <= MOST_BUDGET_S:
        detail = f"budget_s: seconds that it may take, above 0 and up to {MOST_BUDGET_S:g}"
        raise InvalidField(detail, field="budget_s", limit=MOST_BUDGET_S)
    return float(stated)
