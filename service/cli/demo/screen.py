"""What a person sees while the demo runs, and the table at its end."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from service.cli.demo.rounds import RoundFigures
from service.cli.demo.verdict import GOAL_MEAN_REGRET, Verdict


class Screen:
    """A `Watcher` that draws progress on a terminal; on anything else it writes a line for each stage."""

    def __init__(self, console: Console) -> None:
        self._console = console
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        self._progress = Progress(*columns, console=console, transient=True)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._progress.stop()

    def stage(self, text: str) -> None:
        """Say what has begun."""
        self._progress.console.print(f"[dim]· {text}[/dim]")

    def round_begins(self, number: int, phones: int) -> Callable[[], None]:
        """Show a bar for the round's phones."""
        task = self._progress.add_task(f"round {number}: phones ask, run, report", total=phones)
        return lambda: self._progress.advance(task)

    def round_ended(self, row: RoundFigures) -> None:
        """Say what the round came to."""
        for task in self._progress.task_ids:
            self._progress.remove_task(task)
        self._progress.console.print(
            f"round {row.round}, release {row.release}: mean regret {row.mean_regret:.3f} ×, "
            f"{row.within_1_1:.1%} within 1.1 × of the best arm"
        )


def print_verdict(console: Console, verdict: Verdict, report: str) -> None:
    """The table of rounds, the faults, and the sentence that matters."""
    table = Table(title="Regret: latency of the arm that served ÷ latency of the best arm, exploring phones included")
    for name in ("round", "release", "mean regret", "p95 regret", "within 1.1 ×", "target met", "exploring", "crashes"):
        table.add_column(name, justify="right")
    for row in verdict.rounds:
        table.add_row(
            str(row.round), str(row.release), f"{row.mean_regret:.3f}", f"{row.p95_regret:.2f}", f"{row.within_1_1:.1%}",
            f"{row.target_met:.1%}", f"{row.explored:.1%}", str(row.crashes),
        )  # fmt: skip
    console.print(table)
    console.print(_faults(verdict))
    console.print(
        f"{verdict.lookups:,} lookups over HTTP, p50 {verdict.lookup_p50_ms:.1f} ms, p99 {verdict.lookup_p99_ms:.1f} ms "
        f"(phones and server share this machine); {verdict.acknowledged:,} observations acknowledged, "
        f"{verdict.lost_observations} of them missing in the database"
    )
    first, last = verdict.rounds[0].mean_regret, verdict.rounds[-1].mean_regret
    console.print(f"report: {report}")
    if verdict.passed:
        console.print(f"[green]The fleet got better: mean regret {first:.2f} × → {last:.2f} ×, nothing lost.[/green]")
    elif not verdict.better:
        goal = f"below {GOAL_MEAN_REGRET} and below round 0"
        console.print(f"[red]Not good enough: mean regret {first:.2f} × → {last:.2f} ×, the goal is {goal}.[/red]")
    else:
        console.print("[red]Acknowledged observations are missing in the database.[/red]")


def _faults(verdict: Verdict) -> Table:
    table = Table(title="Planted faults")
    table.add_column("fault")
    table.add_column("phones", justify="right")
    table.add_column("found")
    for fault in verdict.faults:
        table.add_row(fault["name"], str(fault["devices"]), "yes" if fault["found"] else "no")
    return table
