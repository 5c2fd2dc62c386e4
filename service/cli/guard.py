"""`nnfleet guard`: one look at the rollout that is going on."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import typer

from service import clock
from service.cli.database import open_database
from service.releasing.rollouts import guard as look


def guard(data: Path | None, crash_grace_s: int, as_json: bool) -> None:
    """Judge it, do what follows, and say so."""
    with open_database(data) as engine:
        judged = look(engine, clock.now(), timedelta(seconds=crash_grace_s))
    if as_json:
        typer.echo(json.dumps(judged.to_json() if judged else None))
    elif judged is None:
        typer.echo("no rollout is going on")
    else:
        typer.echo(f"{judged.act or 'wait'}: {judged.because}")
