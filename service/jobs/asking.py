"""Ask for a job to be run now: it goes into the worker's queue, and whichever worker is free takes it."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import Engine
from sqlmodel import Session

from policies.errors import InvalidField
from service.jobs.jobs import BY_NAME
from service.settings import Settings
from service.store import audit

SCHEMA: Final = "jobs"


def ask_for(engine: Engine, settings: Settings, job: str, by: str, now: datetime) -> bool:
    """Queue the job and note who asked; False where it waits there already. Raises InvalidField for no job of ours."""
    from procrastinate import App, SyncPsycopgConnector  # by the few who ask: the web process starts without it
    from procrastinate.exceptions import AlreadyEnqueued

    if job not in BY_NAME:
        raise InvalidField(f"job: one of {', '.join(BY_NAME)}", field="job")
    connector = SyncPsycopgConnector(
        conninfo=settings.database_url, kwargs={"options": f"-c search_path={SCHEMA}"}, min_size=1, max_size=1
    )
    with App(connector=connector).open() as queue:
        try:
            queue.configure_task(job, queueing_lock=job).defer(timestamp=int(now.timestamp()))
        except AlreadyEnqueued:
            return False
    with Session(engine) as session, session.begin():
        audit.append(session, now, by, "job-asked-for", f"job:{job}")
    return True
