"""A run of a job, recorded while it goes: a job yields its steps and returns its figures."""

from __future__ import annotations

from collections.abc import Callable, Generator
from datetime import datetime
from typing import Any

import structlog
from sqlalchemy import Connection, Engine

from service.store import job_runs

log = structlog.get_logger(__name__)

Steps = Generator[tuple[float, str], None, dict[str, Any]]
"""Yields (share done, what was done); returns figures."""


class AlreadyRunning(RuntimeError):
    """Another process runs this job."""


def figures_of(steps: Steps) -> dict[str, Any]:
    """Take all steps without recording them."""
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            figures: dict[str, Any] = stop.value
            return figures


def recorded(engine: Engine, job: str, steps: Steps, now: Callable[[], datetime]) -> dict[str, Any]:
    """Take all steps, each noted in `job_run` as it is taken; returns the figures.

    Raises AlreadyRunning where the job runs elsewhere, and whatever the job raises, noted as well. The turn is a lock of
    this connection: a process that is killed gives it up, and the next run notes the lost one.
    """
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        if not job_runs.take_turn(connection, job):
            raise AlreadyRunning(f"{job} runs already")
        run = job_runs.start(connection, job, now())
        try:
            figures = _noted(connection, run, job, steps)
        except Exception as error:
            job_runs.end(connection, run, job_runs.FAILED, now(), {}, f"{type(error).__name__}: {error}")
            raise
        else:
            job_runs.end(connection, run, job_runs.DONE, now(), figures)
            return figures
        finally:
            connection.invalidate()  # the pool would keep the connection, and with it the turn


def _noted(connection: Connection, run: int, job: str, steps: Steps) -> dict[str, Any]:
    while True:
        try:
            progress, line = next(steps)
        except StopIteration as stop:
            figures: dict[str, Any] = stop.value
            return figures
        job_runs.note(connection, run, progress, line)
        log.info("job-step", job=job, progress=round(progress, 3), step=line)
