"""`nnfleet user …`: make, list and shut out people, on the database itself."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import typer
from sqlmodel import Session

from policies.errors import InvalidField
from service import clock
from service.cli.database import open_database
from service.identity import people as accounts
from service.identity.actor import COMMAND_LINE, Role
from service.identity.people import NewPerson
from service.store import people


def create(data: Path | None, name: str, role: str, apps: Sequence[str]) -> None:
    """Make an account, with a password that is asked for. No apps: all."""
    password = _asked_password()
    new = NewPerson(name, Role[role.upper()], password, apps=frozenset(apps) or None)
    _act(data, lambda session: accounts.create(session, new, COMMAND_LINE, clock.now()))
    typer.echo(f"{name} may sign in to the console as {role}")


def listed(data: Path | None, as_json: bool) -> None:
    """Everybody."""
    with open_database(data) as engine, Session(engine) as session:
        rows = [
            {
                "name": row.name,
                "role": row.role,
                "apps": row.apps,
                "signs_in": row.issuer or "with a password",
                "sessions": len(people.sessions_of(session, row.name)),
                "created_at": row.created_at.isoformat(),
                "disabled_at": row.disabled_at.isoformat() if row.disabled_at else None,
            }
            for row in people.all_people(session)
        ]
    typer.echo(json.dumps({"users": rows}) if as_json else "\n".join(_line(row) for row in rows) or "no users")


def set_apps(data: Path | None, name: str, apps: Sequence[str]) -> None:
    """Bind somebody to apps; none: to all."""
    bound = frozenset(apps) or None
    _act(data, lambda session: accounts.set_apps(session, name, bound, COMMAND_LINE, clock.now()))
    typer.echo(f"{name} has {', '.join(sorted(apps)) or 'all apps'} from now on")


def disable(data: Path | None, name: str) -> None:
    """Shut somebody out and end their sessions."""
    _act(data, lambda session: accounts.disable(session, name, COMMAND_LINE, clock.now()))
    typer.echo(f"{name} is shut out")


def set_password(data: Path | None, name: str) -> None:
    """Give somebody another password and end their sessions."""
    password = _asked_password()
    _act(data, lambda session: accounts.set_password(session, name, password, COMMAND_LINE, clock.now()))
    typer.echo(f"{name} has another password; their sessions are ended")


def _line(row: Mapping[str, object]) -> str:
    state = f"shut out {row['disabled_at']}" if row["disabled_at"] else "open"
    apps = ", ".join(map(str, row["apps"] or ["all"]))  # type: ignore[call-overload]
    return f"{row['name']}: {row['role']}; apps {apps}; signs in {row['signs_in']}; sessions {row['sessions']}; {state}"


def _act(data: Path | None, act: Callable[[Session], object]) -> None:
    with open_database(data) as engine, Session(engine) as session, session.begin():
        try:
            act(session)
        except InvalidField as error:
            raise typer.BadParameter(error.detail) from error


def _asked_password() -> str:
    """From the terminal, twice and unseen; where there is none, the first line of standard input."""
    if sys.stdin.isatty():
        return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
    return sys.stdin.readline().rstrip("\n")
