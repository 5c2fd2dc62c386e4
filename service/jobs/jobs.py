"""The jobs of the worker: what runs, when, in which order of hours. The learner is imported by the jobs that learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from importlib.util import find_spec
from typing import Final

from sqlalchemy import Engine

from service.jobs.retention import retain
from service.jobs.run import Steps
from service.releasing.quarantines import end_overdue
from service.releasing.renewal import renew
from service.releasing.rollouts import CRASH_GRACE, guard
from service.settings import Settings


@dataclass(frozen=True, slots=True)
class Job:
    """A job: its name, when it runs (cron, UTC), what it does."""

    name: str
    cron: str
    what: str
    steps: Callable[[Engine, Settings, datetime], Steps]


def _rollup(engine: Engine, _settings: Settings, now: datetime) -> Steps:
    from service.jobs.rollup import roll_up

    return roll_up(engine, now, now - CRASH_GRACE)


def _retention(engine: Engine, settings: Settings, now: datetime) -> Steps:
    return retain(engine, now, settings.retention_days)


def _recommend(engine: Engine, settings: Settings, now: datetime) -> Steps:
    from ml.explore import Budget
    from service.jobs.recommend import learn
    from service.jobs.remembering import recalled, remember

    memory = recalled(settings.local_folder)
    run = learn(engine, now, now - CRASH_GRACE, Budget(), memory=memory)
    remember(settings.local_folder, memory)
    yield 1.0, f"recommendation {run.recommendation}: {run.rankings:,} rankings, {len(run.findings)} findings"
    return run.figures | {"recommendation": run.recommendation}


def _findings(engine: Engine, _settings: Settings, now: datetime) -> Steps:
    from service.jobs.recommend import look

    found = look(engine, now, now - CRASH_GRACE)
    yield 1.0, f"{len(found)} findings"
    return {"findings": [finding.to_json() for finding in found]}


def _guard(engine: Engine, _settings: Settings, now: datetime) -> Steps:
    ended = end_overdue(engine, now)
    if ended is not None:
        yield 0.5, f"release {ended} ends quarantines past their last day"
    judged = guard(engine, now, CRASH_GRACE)
    if judged is None:
        yield 1.0, "no rollout is going on"
        return {}
    yield 1.0, f"{judged.act or 'wait'}: {judged.because}"
    return judged.to_json()


def _renew(engine: Engine, _settings: Settings, now: datetime) -> Steps:
    renewed = renew(engine, now)
    yield 1.0, f"release {renewed} is the one before again" if renewed else "nothing expires soon"
    return {"release": renewed} if renewed else {}


def _prune(engine: Engine, settings: Settings, now: datetime) -> Steps:
    from service.artifacts.store import open_store
    from service.jobs.prune import prune

    if settings.artifacts is None:
        yield 1.0, "no place for files is named"
        return {}
    return (yield from prune(engine, open_store(settings.artifacts), now))


def _golden(engine: Engine, settings: Settings, now: datetime) -> Steps:
    from service.artifacts.store import open_store
    from service.jobs.golden import make_references

    if settings.artifacts is None or not all(map(find_spec, ("ai_edge_litert", "onnxruntime"))):
        yield 1.0, "needs a place for files, and the extras litert and onnxruntime"
        return {}
    return (yield from make_references(engine, open_store(settings.artifacts), now))


def _export(engine: Engine, settings: Settings, now: datetime) -> Steps:
    from service.jobs.lake import export

    if settings.lake_url is None:
        yield 1.0, "no lake is named"
        return {}
    return (yield from export(engine, settings.lake_url, now))


JOBS: Final = (
    Job("guard", "* * * * *", "move the rollout on, or stop it; end quarantines", _guard),
    Job("rollup", "*/5 * * * *", "observations into rollups by day, medians for the screen", _rollup),
    Job("findings", "*/30 * * * *", "look for faults in what is rolled up", _findings),
    Job("recommend", "40 * * * *", "rank arms and store a recommendation", _recommend),
    Job("golden", "*/10 * * * *", "run float files for the golden references of models that have none", _golden),
    Job("renew", "*/10 * * * *", "publish the live release again before its decisions expire", _renew),
    Job("retention", "10 * * * *", "make partitions ahead, drop old ones", _retention),
    Job("prune", "50 2 * * *", "let files go that no revision names", _prune),
    Job("export", "20 1 * * *", "days that are over into the lake", _export),
)
BY_NAME: Final = {job.name: job for job in JOBS}
