"""What operators watch: runs of jobs, and what becomes of telemetry."""

from __future__ import annotations

from typing import Final

from flask import Blueprint, jsonify
from flask.typing import ResponseReturnValue
from sqlmodel import Session

from service import clock
from service.context import services
from service.store import job_runs
from service.store.health import telemetry_health

blueprint = Blueprint("watch", __name__, url_prefix="/v1")
SHOWN_RUNS: Final = 100
SHOWN_DAYS: Final = 7


@blueprint.get("/jobs")
def list_jobs() -> ResponseReturnValue:
    """The newest hundred runs, with their progress, figures and log."""
    with Session(services().engine) as session:
        runs = [
            {
                "run": run.id,
                "job": run.job,
                "state": run.state,
                "started_at": run.started_at.isoformat(),
                "ended_at": run.ended_at.isoformat() if run.ended_at else None,
                "progress": run.progress,
                "figures": run.figures,
                "log": run.log,
            }
            for run in job_runs.newest(session, SHOWN_RUNS)
        ]
    return jsonify({"runs": runs})


@blueprint.get("/telemetry/health")
def health() -> ResponseReturnValue:
    """What became of the records of a week, and how far they are rolled up."""
    with Session(services().engine) as session:
        return jsonify(telemetry_health(session, clock.now(), SHOWN_DAYS))
