"""Jobs: what ran when, how far it is, what came of it."""

from __future__ import annotations

from typing import Any, Final

from flask import Response, render_template, request
from flask.typing import ResponseReturnValue
from sqlalchemy import Select, func, select
from sqlmodel import Session
from werkzeug.exceptions import NotFound

from service import clock
from service.console.forms import MOST_NOTE, done, said
from service.console.listing import csv_file, listed, wants_csv
from service.console.own_apps import own_apps
from service.console.paging import stated
from service.console.watching import over
from service.context import services
from service.jobs.asking import ask_for
from service.jobs.jobs import JOBS
from service.store import job_runs
from service.store.tables import metadata
from service.web.door import actor

PAGE_SIZE: Final = 50
STATES: Final = (job_runs.RUNNING, job_runs.DONE, job_runs.FAILED, job_runs.LOST)
_RUN: Final = metadata.tables["job_run"]


def list_page() -> str | Response:
    """The runs, the newest first; by job and state."""
    wanted = {name: stated(request.args, name) for name in ("job", "state")}
    query = _query(**wanted)
    with Session(services().engine) as session:
        if wants_csv():
            return csv_file(session, query, "jobs")
        found = listed(session, query, PAGE_SIZE)
        counted = select(_RUN.c.job, func.count()).group_by(_RUN.c.job).order_by(_RUN.c.job)
        jobs = session.connection().execute(counted).all()
    return render_template(
        "console/jobs.html", found=found, wanted=wanted, jobs=jobs, states=STATES, now=clock.now(), known=JOBS
    )


def _query(job: str, state: str) -> Select[Any]:
    plain = [_RUN.c[n] for n in ("id", "job", "state", "started_at", "ended_at", "progress", "figures")]
    query = select(*plain, func.cardinality(_RUN.c.log).label("lines"))
    for column, asked in ((_RUN.c.job, job), (_RUN.c.state, state)):
        query = query.where(column == asked) if asked else query
    return query.order_by(_RUN.c.id.desc())


def run_page(number: int) -> str | Response:
    """One run with its log; raises NotFound."""
    with Session(services().engine) as session:
        row = job_runs.run(session, number)
    if row is None:
        raise NotFound(f"There is no run {number}. Old ones are dropped.")
    if (fresh := over(row.state)) is not None:
        return fresh
    return render_template(
        "console/job_run.html", row=row, now=clock.now(), most_lines=job_runs.MOST_LINES, told=own_apps() is None
    )


def run_now() -> ResponseReturnValue:
    """Put a job into the worker's queue."""
    job = said("job", MOST_NOTE)
    if ask_for(services().engine, services().settings, job, actor().name, clock.now()):
        return done(f"{job} runs as soon as a worker is free.", "jobs", job=job)
    return done(f"{job} waits for a worker already.", "jobs", job=job)
