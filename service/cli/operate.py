"""`nnfleet worker`, `nnfleet health`, `nnfleet export lake`, `nnfleet backup` and `nnfleet restore`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import typer
from rich.console import Console
from sqlalchemy import Engine
from sqlmodel import Session

from service import clock, logs
from service.cli.options import check_place, check_places
from service.jobs.jobs import BY_NAME, JOBS
from service.jobs.lake import export
from service.jobs.rollup import roll_up
from service.jobs.run import Steps
from service.jobs.worker import make_worker, run_job, work
from service.releasing.rollouts import CRASH_GRACE
from service.settings import Settings, artifacts_in, process_settings, state_folder
from service.store import schema
from service.store.backup import BackupError, back_up
from service.store.backup import restore as fill
from service.store.embedded import database
from service.store.engine import make_engine
from service.store.health import telemetry_health


def worker(once: str | None, data: Path | None) -> None:
    """Run the jobs at their hours until a signal comes, or one of them now."""
    if once is not None and once not in BY_NAME:
        raise typer.BadParameter(f"{once}: there is {', '.join(BY_NAME)}")
    with _migrated(data) as (settings, engine):
        logs.configure(settings.log_level)
        if once is not None:
            run_job(engine, settings, BY_NAME[once])
            return
        for job in JOBS:
            typer.echo(f"{job.name}: {job.what} ({job.cron})")
        asyncio.run(work(make_worker(engine, settings)))


def health(data: Path | None, days: int) -> None:
    """Print how telemetry fares."""
    with _migrated(data) as (_, engine), Session(engine) as session:
        typer.echo(json.dumps(telemetry_health(session, clock.now(), days), indent=2))


def export_lake(lake_url: str | None, data: Path | None, as_json: bool) -> None:
    """Roll up what is over and write it to the lake."""
    with _migrated(data) as (settings, engine):
        target = lake_url or settings.lake_url
        if target is None:
            raise typer.BadParameter("say where: --to, or NNFLEET_LAKE_URL")
        check_place(target)
        now = clock.now()
        _shown(roll_up(engine, now, now - CRASH_GRACE))
        figures = _shown(export(engine, target, now))
    typer.echo(json.dumps(figures) if as_json else f"{figures['days']} days, {figures['observations']:,} observations")


def backup(file: Path, data: Path | None) -> None:
    """Write a back-up and say how large it is."""
    with database((data or state_folder()) / "postgresql") as url:
        try:
            size = back_up(url, file)
        except (BackupError, OSError) as error:
            raise typer.BadParameter(str(error)) from error
    typer.echo(f"{file}: {size:,} bytes")


def restore(file: Path, data: Path | None) -> None:
    """Fill an empty database from a back-up and bring it to the newest schema."""
    with database((data or state_folder()) / "postgresql") as url:
        engine = make_engine(Settings(database_url=url))
        try:
            fill(engine, url, file)
            schema.upgrade(engine)
        except BackupError as error:
            raise typer.BadParameter(str(error)) from error
        finally:
            engine.dispose()
    typer.echo(f"restored, schema at {schema.newest_revision()}")


@contextmanager
def _migrated(data: Path | None) -> Iterator[tuple[Settings, Engine]]:
    folder = data or state_folder()
    with database(folder / "postgresql") as url:
        settings = process_settings(url, None)
        settings = replace(settings, local_folder=settings.local_folder or folder / "local")
        if settings.artifacts is None and Path(artifacts_in(folder)).is_dir():
            settings = replace(settings, artifacts=artifacts_in(folder))
        check_places(settings)
        engine = make_engine(settings)
        schema.upgrade(engine)
        try:
            yield settings, engine
        finally:
            engine.dispose()


def _shown(steps: Steps) -> dict[str, object]:
    """Take all steps, with the newest on standard error; returns the figures."""
    with Console(stderr=True).status("starting") as status:
        while True:
            try:
                progress, line = next(steps)
            except StopIteration as stop:
                figures: dict[str, object] = stop.value
                return figures
            status.update(f"{progress:.0%} {line}")
