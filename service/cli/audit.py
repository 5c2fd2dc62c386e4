"""`nnfleet audit verify`."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import typer
from sqlmodel import Session

from service.cli.database import open_database
from service.store import audit


def verify(data: Path | None, head: str | None, as_json: bool) -> bool:
    """Walk the chain and say what came of it; True where it holds."""
    with open_database(data) as engine, Session(engine) as session:
        chain = audit.verify(session, head)
    if as_json:
        typer.echo(json.dumps(asdict(chain)))
    elif chain.broken is None:
        typer.echo(f"{chain.rows} rows hold together; the head is {chain.head}")
    else:
        typer.echo(f"row {chain.broken}: {chain.why}; the {chain.rows} rows before it hold together")
    return chain.broken is None
