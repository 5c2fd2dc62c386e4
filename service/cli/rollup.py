"""`nnfleet rollup`: the lake rolled up by DuckDB or by Spark; no database is asked."""

from __future__ import annotations

from datetime import timedelta

import typer

from ml.lake_engines import ENGINES, EngineError
from ml.lake_job import roll_up
from service import clock
from service.cli.options import check_place


def roll_lake_up(lake: str, to: str, engine: str, crash_grace_s: int) -> None:
    """Write counts, merged histograms and features of the lake to `to`, and say what was written."""
    if engine not in ENGINES:
        raise typer.BadParameter(f"{engine}: there is {', '.join(ENGINES)}")
    check_place(lake)
    check_place(to)
    try:
        for written in roll_up(ENGINES[engine](), lake, to, clock.now() - timedelta(seconds=crash_grace_s)):
            typer.echo(written)
    except EngineError as error:
        raise typer.BadParameter(str(error)) from error
