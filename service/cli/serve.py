"""`nnfleet serve` and `nnfleet migrate`."""

from __future__ import annotations

import secrets
import signal
import threading
from dataclasses import replace
from pathlib import Path

import structlog
import typer
from sqlalchemy.exc import OperationalError
from sqlmodel import Session

from service.cli.options import check_places
from service.deciding.local_copy import LocalCopy
from service.deciding.signing import kept_keys
from service.server import Running, WebServer, running_processes
from service.settings import Settings, artifacts_in, process_settings, state_folder, stated_manage_token
from service.store import people, schema
from service.store.embedded import database
from service.store.engine import make_engine

log = structlog.get_logger(__name__)

_WATCH_S = 1.0


def serve(host: str, port: int, workers: int, data: Path | None, kind: WebServer) -> bool:
    """Run until interrupted; False where the server ended by itself.

    The management token and the signing keys are those stated, else those kept in the data folder.
    """
    folder = data or state_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with database(folder / "postgresql") as url:
        token = stated_manage_token() or _kept_token(folder / "manage-token")
        stated = process_settings(url, token)
        keys = stated.signing_keys or folder / "signing-keys.json"
        kid = kept_keys(keys).signing_kid
        settings = replace(
            stated,
            signing_keys=keys,
            local_folder=stated.local_folder or folder / "local",
            artifacts=stated.artifacts or artifacts_in(folder),
        )
        check_places(settings)
        _migrate_unless_away(settings)
        with running_processes(settings, host=host, port=port, workers=workers, kind=kind) as running:
            stop = _interrupted()  # before it says that it serves: who reads that may stop it at once
            typer.echo(f"nnfleet serves on {running.url}, console {running.url}/console/")
            typer.echo(
                f"management token: {'from NNFLEET_MANAGE_TOKEN' if stated_manage_token() else folder / 'manage-token'}"
            )
            typer.echo(f"decisions are signed by key {kid}, see {running.url}/.well-known/jwks.json")
            if _nobody(settings):
                command = f"nnfleet user create NAME --role admin{f' --data {data}' if data else ''}"
                typer.echo(f"nobody can sign in to the console yet; in another terminal: {command}")
            return _until_interrupted(running, stop)


def wait_for_interrupt() -> None:
    """Return on the first SIGINT or SIGTERM."""
    _interrupted().wait()


def _interrupted() -> threading.Event:
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    return stop


def _until_interrupted(running: Running, stop: threading.Event) -> bool:
    while not stop.wait(_WATCH_S):
        if running.died():
            log.error("server-ended", codes=[process.poll() for process in running.processes])
            return False
    return True


def migrate(data: Path | None) -> None:
    """Bring the database to the newest schema and say which that is."""
    with database((data or state_folder()) / "postgresql") as url:
        _migrate(Settings(database_url=url))
    typer.echo(f"schema at {schema.newest_revision()}")


def _migrate(settings: Settings) -> None:
    engine = make_engine(settings)
    try:
        schema.upgrade(engine)
    finally:
        engine.dispose()


def _migrate_unless_away(settings: Settings) -> None:
    """A host that kept a release serves it while the database is away, also after a restart."""
    try:
        _migrate(settings)
    except OperationalError:
        if settings.local_folder is None or LocalCopy(settings.local_folder).release() is None:
            raise
        log.warning("database-away", serving="the release this host kept")


def _nobody(settings: Settings) -> bool:
    """Whether there is no account yet; False where the database cannot say."""
    engine = make_engine(settings)
    try:
        with Session(engine) as session:
            return not settings.console_open and not people.anybody(session)
    except OperationalError:
        return False
    finally:
        engine.dispose()


def _kept_token(file: Path) -> str:
    if not file.exists():
        file.touch(mode=0o600)
        file.write_text(secrets.token_urlsafe(32), "ascii")
    return file.read_text("ascii").strip()
