"""Rollouts: start one, watch it, pause, resume, abort."""

from __future__ import annotations

from typing import Any, Final

from flask import Blueprint, jsonify
from flask.typing import ResponseReturnValue
from sqlmodel import Session

from policies.errors import InvalidField
from policies.rollouts.local_time import LocalTime, parse_local_time
from policies.rollouts.rollout import BY_PERSONS, parse_rollout_plan
from service import clock
from service.context import services
from service.releasing.rollouts import start, steer
from service.store import rollouts
from service.store.tables import RolloutRow
from service.web.bodies import note_in, object_body
from service.web.door import actor

blueprint = Blueprint("rollouts", __name__, url_prefix="/v1/rollouts")
PAGE: Final = 100


@blueprint.post("")
def post_rollout() -> ResponseReturnValue:
    """Begin to roll out what is approved, step by step, now or at `start`. Steps, limits and hours have defaults."""
    raw = object_body("note", "start", "steps", "limits", "false_stop_rate", "hours")
    note, at = note_in(raw), raw.get("start")
    plan = parse_rollout_plan({name: value for name, value in raw.items() if name not in {"note", "start"}})
    begins = None if at is None else parse_local_time(at, "start")
    row = start(services().engine, plan, note, actor().name, clock.now(), begins)
    return jsonify(_shown(row)), 201


@blueprint.get("")
def list_rollouts() -> ResponseReturnValue:
    """The newest hundred."""
    with Session(services().engine) as session:
        return jsonify({"rollouts": [_shown(row) for row in rollouts.newest(session, PAGE)]})


@blueprint.get("/<int:number>")
def get_rollout(number: int) -> ResponseReturnValue:
    """One rollout: its plan, what the guard made of it last, and what happened."""
    with Session(services().engine) as session:
        return jsonify(_shown(rollouts.rollout(session, number)))


@blueprint.post("/<int:number>/<act>")
def act(number: int, act: str) -> ResponseReturnValue:
    """Pause, resume or abort it. Aborting gives everybody the control again."""
    taken = next((known for known in BY_PERSONS if known == act), None)
    if taken is None:
        raise InvalidField(f"act: one of {', '.join(BY_PERSONS)}", field="act")
    note = note_in(object_body("note"))
    return jsonify(_shown(steer(services().engine, number, taken, note, actor().name, clock.now())))


def _shown(row: RolloutRow) -> dict[str, Any]:
    steps = row.plan["steps"]
    return {
        "rollout": row.number,
        "state": row.state,
        "note": row.note,
        "author": row.author,
        "plan": row.plan,
        "step": row.step,
        "share_bp": 0 if row.started_at is None else steps[row.step]["share_bp"],
        "starts_at": LocalTime(row.starts_at, row.zone).to_json() if row.starts_at and row.zone else None,
        "started_at": row.started_at.isoformat() if row.started_at else None,
        "ended_at": row.ended_at.isoformat() if row.ended_at else None,
        "judgement": row.judgement,
        "timeline": row.timeline,
    }
