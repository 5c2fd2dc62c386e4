"""The worker: procrastinate runs the jobs at their hours, from a queue in the same database.

Several workers may run. The queue hands a job to one of them, and the job's turn (`service.jobs.run`) keeps it apart
from somebody who runs it by hand.
"""

from __future__ import annotations

import structlog
from procrastinate import App, PsycopgConnector
from procrastinate.jobs import DeleteJobCondition, Status
from sqlalchemy import Engine

from service import clock
from service.jobs.jobs import JOBS, Job
from service.jobs.run import AlreadyRunning, recorded
from service.settings import Settings

log = structlog.get_logger(__name__)


def run_job(engine: Engine, settings: Settings, job: Job) -> None:
    """Run a job now and record it; where it runs already, that is enough."""
    now = clock.now()
    try:
        figures = recorded(engine, job.name, job.steps(engine, settings, now), clock.now)
    except AlreadyRunning:
        log.info("job-runs-already", job=job.name)
    else:
        log.info("job-done", job=job.name, **figures)


def make_worker(engine: Engine, settings: Settings) -> App:
    """Procrastinate with all jobs at their hours. Its tables are in a schema of their own."""
    app = App(
        connector=PsycopgConnector(
            conninfo=settings.database_url,
            kwargs={"options": "-c search_path=jobs", "application_name": "nnfleet-worker"},
        )
    )
    for job in JOBS:
        _schedule(app, engine, settings, job)
    return app


def _schedule(app: App, engine: Engine, settings: Settings, job: Job) -> None:
    # One waiting run is enough, however long the one before it takes.
    @app.periodic(cron=job.cron)
    @app.task(name=job.name, queueing_lock=job.name)
    def task(timestamp: int) -> None:  # noqa: ARG001 -- procrastinate says which hour it is
        run_job(engine, settings, job)


async def work(app: App, *, wait: bool = True) -> None:
    """Work until a signal comes, or, without `wait`, until nothing is left to do."""
    async with app.open_async():
        for stalled in await app.job_manager.get_stalled_jobs():
            # Its worker was killed. The next hour runs it again from the start: every job may be repeated.
            await app.job_manager.finish_job(stalled, Status.FAILED, delete_job=True)
        await app.run_worker_async(wait=wait, concurrency=2, delete_jobs=DeleteJobCondition.ALWAYS)
