"""`nnfleet key …`: make, list and revoke API keys, on the database itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import typer
from sqlmodel import Session

from policies.errors import InvalidField
from service import clock
from service.cli.database import open_database
from service.identity.access import Scope
from service.identity.actor import COMMAND_LINE, Role
from service.identity.keyring import NewKey
from service.identity.keyring import create as make
from service.identity.keyring import revoke as shut
from service.store import keys


def create(data: Path | None, name: str, scopes: list[Scope], role: str | None, app: str | None) -> None:
    """Make a key and print its secret, once."""
    new = NewKey(name, frozenset(scopes), Role[role.upper()] if role else None, app)
    with open_database(data) as engine, Session(engine) as session, session.begin():
        try:
            secret = make(session, new, COMMAND_LINE, clock.now())
        except InvalidField as error:
            raise typer.BadParameter(error.detail) from error
    typer.echo(secret)
    typer.echo("This is shown once; only its digest is kept.", err=True)


def listed(data: Path | None, as_json: bool) -> None:
    """Every key, without anything secret."""
    with open_database(data) as engine, Session(engine) as session:
        rows = [
            {
                "name": row.name,
                "scopes": row.scopes,
                "role": row.role,
                "app": row.app,
                "created_at": row.created_at.isoformat(),
                "revoked_at": row.revoked_at.isoformat() if row.revoked_at else None,
            }
            for row in keys.all_keys(session)
        ]
    typer.echo(json.dumps({"keys": rows}) if as_json else "\n".join(_line(row) for row in rows) or "no keys")


def revoke(data: Path | None, name: str) -> None:
    """Shut a key for good."""
    with open_database(data) as engine, Session(engine) as session, session.begin():
        try:
            shut(session, name, COMMAND_LINE, clock.now())
        except InvalidField as error:
            raise typer.BadParameter(error.detail) from error
    typer.echo(f"{name} is revoked")


def _line(row: Mapping[str, object]) -> str:
    scopes = ",".join(str(scope) for scope in row["scopes"])  # type: ignore[attr-defined]
    state = f"revoked {row['revoked_at']}" if row["revoked_at"] else "open"
    return f"{row['name']}: {scopes}; role {row['role'] or '–'}; app {row['app'] or 'all'}; {state}"
