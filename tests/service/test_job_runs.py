"""Jobs of the worker: one at a time, each run recorded, nothing left behind by one that was killed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from builders import make_observation, uuid7
from flask.testing import FlaskClient
from sqlalchemy import Engine, text
from sqlmodel import Session

from service import clock
from service.jobs.jobs import JOBS
from service.jobs.run import AlreadyRunning, Steps, recorded
from service.jobs.worker import make_worker, run_job, work
from service.settings import Settings, child_environment
from service.store import job_runs, partitions
from service.store.engine import make_engine
from service.store.tables import JobRunRow

ROOT = Path(__file__).parents[2]


def steps(*lines: str, fault: Exception | None = None) -> Steps:
    for number, line in enumerate(lines, start=1):
        yield number / (len(lines) + 1), line
    if fault is not None:
        raise fault
    return {"lines": len(lines)}


def runs(engine: Engine) -> list[JobRunRow]:
    with Session(engine) as session:
        return job_runs.newest(session, 100)


def test_a_run_is_recorded_step_by_step_with_its_figures(engine: Engine) -> None:
    def watched() -> Steps:
        yield 0.25, "first"
        [run] = runs(engine)
        assert (run.state, run.progress, run.log, run.ended_at) == ("running", 0.25, ["first"], None)
        yield 0.5, "second"
        return {"rows": 7}

    assert recorded(engine, "watched", watched(), clock.now) == {"rows": 7}
    [run] = runs(engine)
    assert (run.job, run.state, run.progress, run.figures) == ("watched", "done", 1.0, {"rows": 7})
    assert run.log == ["first", "second"]
    assert run.ended_at is not None
    assert run.started_at <= run.ended_at


def test_a_run_that_fails_says_why_and_how_far_it_came(engine: Engine) -> None:
    with pytest.raises(OSError, match="no lake"):
        recorded(engine, "export", steps("one day", fault=OSError("no lake there")), clock.now)
    [run] = runs(engine)
    assert (run.state, run.progress, run.log) == ("failed", 0.5, ["one day", "OSError: no lake there"])


def test_a_job_that_runs_is_not_started_beside_itself(engine: Engine) -> None:
    def nested() -> Steps:
        yield 0.5, "running"
        with pytest.raises(AlreadyRunning):
            recorded(engine, "rollup", steps(), clock.now)
        recorded(engine, "other", steps(), clock.now)
        return {}

    recorded(engine, "rollup", nested(), clock.now)
    assert [(run.job, run.state) for run in runs(engine)] == [("other", "done"), ("rollup", "done")]
    recorded(engine, "rollup", steps(), clock.now)


def test_a_run_that_was_killed_is_lost_and_hinders_nobody(engine: Engine, settings: Settings) -> None:
    code = (
        "import time\n"
        "from service import clock\nfrom service.jobs.run import recorded\n"
        "from service.settings import Settings\nfrom service.store.engine import make_engine\n"
        "def steps():\n    yield 0.5, 'half'\n    time.sleep(60)\n"
        "recorded(make_engine(Settings.from_environment()), 'rollup', steps(), clock.now)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code], env=child_environment(settings), cwd=ROOT)
    try:
        while not (found := runs(engine)) or not found[0].log:
            assert child.poll() is None
            time.sleep(0.05)
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert runs(engine)[0].state == "running"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:  # PostgreSQL notices the closed connection by itself
        try:
            recorded(engine, "rollup", steps(), clock.now)
            break
        except AlreadyRunning:
            time.sleep(0.05)
    assert [run.state for run in runs(engine)] == ["done", "lost"]


@pytest.mark.slow
def test_the_worker_takes_what_is_in_the_queue_and_records_it(engine: Engine, settings: Settings) -> None:
    own = make_engine(settings)
    app = make_worker(own, settings)

    async def drain() -> None:
        async with app.open_async():
            for name in ("rollup", "retention"):
                await app.configure_task(name, queueing_lock=name).defer_async(timestamp=0)
        await work(app, wait=False)

    asyncio.run(drain())
    own.dispose()
    assert {(run.job, run.state) for run in runs(engine)} >= {("retention", "done"), ("rollup", "done")}
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM jobs.procrastinate_jobs")).scalar_one() == 0


def test_every_job_runs_on_an_empty_installation(engine: Engine, settings: Settings) -> None:
    for job in JOBS:
        run_job(engine, settings, job)
    assert {run.job: run.state for run in runs(engine)} == {job.name: "done" for job in JOBS}


def test_retention_drops_what_is_too_old_and_keeps_its_rollup(
    client: FlaskClient, engine: Engine, settings: Settings, known_report: str
) -> None:
    batch = [make_observation(record_id=str(record_id)) for record_id in (uuid7(), uuid4())]
    assert client.post("/v1/telemetry", json=batch).get_json()["accepted"] == 2
    by_name = {job.name: job for job in JOBS}
    run_job(engine, settings, by_name["rollup"])
    later = clock.now() + timedelta(days=settings.retention_days + 2)
    recorded(engine, "retention", by_name["retention"].steps(engine, settings, later), lambda: later)
    with engine.begin() as connection:
        assert connection.execute(text("SELECT count(*) FROM observation")).scalar_one() == 0
        assert connection.execute(text("SELECT sum(windows) FROM observation_rollup")).scalar_one() == 2
        assert min(partitions.days(connection)) >= (later - timedelta(days=settings.retention_days)).date()
        for day in partitions.days(connection):
            connection.execute(text(f"DROP TABLE observation_{day:%Y%m%d}"))
        partitions.make_ahead(connection, clock.now().date(), clock.now().date())


def test_a_stopped_worker_ends_by_itself(settings: Settings, engine: Engine) -> None:
    command = [sys.executable, "-m", "service.cli.app", "worker"]
    child = subprocess.Popen(command, env=child_environment(settings), cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    told = [child.stdout.readline() for _ in JOBS]
    assert [line.partition(":")[0] for line in told] == [job.name for job in JOBS]
    time.sleep(0.5)
    os.kill(child.pid, signal.SIGTERM)
    assert child.wait(timeout=30) == 0
    child.stdout.close()
