"""`nnfleet recommend` and `nnfleet evaluate`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import typer
from rich.console import Console
from rich.table import Table as TextTable

from ml.array_file import ModelFileError
from ml.evaluate import PROTOCOLS, UnknownProtocolError, document, run
from ml.explore import Budget
from ml.memory import Memory
from ml.table import TableError, read_table
from policies.figures import plain
from service import clock
from service.cli.database import open_database
from service.jobs.recommend import learn

ALWAYS: Final = ("method", "mean", "p95", "top1", "within_1_1", "over_2")
SOMETIMES: Final = ("interval_80", "interval_95", "cumulative_excess", "stuck")
HEADINGS: Final = {
    "within_1_1": "≤ 1.1 ×", "over_2": "> 2 ×", "interval_80": "80 %", "interval_95": "95 %", "cumulative_excess": "cost",
}  # fmt: skip
"""What a table says above a column, where the name in JSON is too long for it."""


def recommend(data: Path | None, crash_grace_s: int, as_json: bool, memory: Path | None) -> None:
    """Learn from everything stored, and say what came of it. The next release carries the rankings.

    `memory`: file of variances; read where it is there, written anew at the end.
    """
    kept = _remembered(memory)
    with open_database(data) as engine:
        now = clock.now()
        figures = learn(engine, now, now - timedelta(seconds=crash_grace_s), Budget(), memory=kept).figures
    if memory is not None:
        memory.write_bytes(kept.to_bytes())
    if as_json:
        typer.echo(json.dumps(figures))
        return
    typer.echo(
        f"{figures['rankings']:,} rankings over {figures['cells_ranked']:,} cells of {figures['stacks']:,} driver stacks, "
        f"from {figures['cells_measured']:,} measured cells, in {figures['seconds']} s"
    )
    _print_gate(figures["gate"])
    for finding in figures["findings"]:
        typer.echo(f"finding: {finding['name']} on {finding['soc']}: {finding['detail']}")
    for soak in figures["soaks"]:
        typer.echo(
            f"for a lab: half an hour of {soak['app']}/{soak['model']} {soak['arm']} on {soak['soc']}, cool and hot"
        )


def _print_gate(gate: Mapping[str, Any]) -> None:
    """What the recommendation would change of the live release, and whether it is put up for review."""
    state = "is put up for review" if gate["passes"] else "stays a draft: submit it with a note to overrule its gate"
    typer.echo(
        f"gate: {gate['rankings_compared']:,} of {gate['rankings']:,} rankings compared; the recommendation {state}"
    )
    for check in gate["checks"]:
        typer.echo(f"  {'holds' if check['holds'] else 'fails'}: {check['says']}")
    if gate["changes"]:
        Console().print(_changes(gate["changes"], gate["uses_changed"]))


def _changes(changes: Iterable[Mapping[str, Any]], share: float) -> TextTable:
    table = TextTable(
        title=f"Another arm would lead {share:.1%} of uses; expected cost of a run, those with most uses first"
    )
    for name in ("driver stack", "model", "leads", "would lead", "ms", "would be", "×", "95 %", "uses"):
        table.add_column(name)
    for row in changes:
        low, high = row["factor_95"]
        table.add_row(
            row["stack"], row["model"], row["leads"], row["would_lead"], plain(row["live_ms"]), plain(row["new_ms"]),
            f"{row['factor']:.2f}", f"{low:.2f}–{high:.2f}", f"{row['uses']:.1%}",
        )  # fmt: skip
    return table


def _remembered(file: Path | None) -> Memory:
    if file is None or not file.exists():
        return Memory()
    try:
        return Memory.of(file.read_bytes())
    except ModelFileError as error:
        raise typer.BadParameter(f"{file}: {error}") from error


def evaluate(data: Path, protocol: str, seeds: int, as_json: bool) -> None:
    """Run the protocols and print their rows. Progress goes to standard error."""
    console = Console(stderr=True)
    names = PROTOCOLS if protocol == "all" else (protocol,)
    try:
        table = read_table(data)
        with console.status("reading") as status:
            rows = [row for name in names for row in run(table, name, seeds, status.update)]
    except (TableError, UnknownProtocolError, ValueError) as error:
        raise typer.BadParameter(str(error)) from error
    found = document(rows)
    if as_json:
        typer.echo(json.dumps(found))
    else:
        for title, of_setting in groupby(found["rows"], key=lambda row: f"{row['protocol']}, {row['setting']}"):
            Console().print(_table(title, list(of_setting)), "")


def _table(title: str, rows: Sequence[dict[str, Any]]) -> TextTable:
    """One setting: narrow enough for a terminal of 80 columns, which a pipe is taken for."""
    headline = f"{title}, {rows[0]['seeds']} seeds: chosen ÷ best latency"
    table = TextTable(title=headline, title_justify="left", box=None, padding=(0, 1, 0, 0), pad_edge=False)
    sometimes = [heading for heading in SOMETIMES if any(heading in row for row in rows)]
    for name in (*ALWAYS, *sometimes):
        table.add_column(HEADINGS.get(name, name), justify="left" if name == "method" else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(_shown(row.get(name, "")) for name in (*ALWAYS, *sometimes)))
    return table


def _shown(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
