"""`nnfleet serve` and `nnfleet migrate`."""

from __future__ import annotations

import secrets
import signal
import threading
from pathlib import Path

import typer

from service.server import running_server
from service.settings import Settings, process_settings, state_folder, stated_manage_token
from service.store import schema
from service.store.embedded import database
from service.store.engine import make_engine


def serve(host: str, port: int, workers: int, data: Path | None) -> None:
    """Run until interrupted. The management token is the one stated, else one kept in the data folder."""
    folder = data or state_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with database(folder / "postgresql") as url:
        token = stated_manage_token() or _kept_token(folder / "manage-token")
        settings = process_settings(url, token)
        _migrate(settings)
        with running_server(settings, host=host, port=port, workers=workers) as address:
            typer.echo(f"nnfleet serves on {address}, console {address}/console/")
            typer.echo(
                f"management token: {'from NNFLEET_MANAGE_TOKEN' if stated_manage_token() else folder / 'manage-token'}"
            )
            wait_for_interrupt()


def wait_for_interrupt() -> None:
    """Return on the first SIGINT or SIGTERM."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    stop.wait()


def migrate(data: Path | None) -> None:
    """Bring the database to the newest schema and say which that is."""
    with database((data or state_folder()) / "postgresql") as url:
        _migrate(Settings(database_url=url))
    typer.echo(f"schema at {schema.newest_revision()}")


def _migrate(settings: Settings) -> None:
    engine = make_engine(settings)
    schema.upgrade(engine)
    engine.dispose()


def _kept_token(file: Path) -> str:
    if not file.exists():
        file.touch(mode=0o600)
        file.write_text(secrets.token_urlsafe(32), "ascii")
    return file.read_text("ascii").strip()
