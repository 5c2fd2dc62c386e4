"""The timeline of a rollout as text: share, evidence, and what the guard did."""

from __future__ import annotations

from rich.console import Console

from policies.rollouts.rollout import Act
from service.cli.demo.bad_release import Look, Outcome

_DID = {Act.STOP: "stop, give everybody the old files", Act.ADVANCE: "next step", Act.COMPLETE: "to everybody"}


def print_look(console: Console, look: Look) -> None:
    """One line a look."""
    console.print(
        f"{look.seconds:5.1f} s  look {look.look}, step {look.step + 1} ({look.share_bp / 100:g}% of units, release "
        f"{look.release}): {look.candidate_windows} windows of the candidate; p90 {look.ratio:.2f} × over all, "
        f"{look.cohort_ratio:.2f} × on {look.cohort}; evidence 10^{round(look.evidence_log10, 1) + 0.0} of 10^{look.needed_log10:.1f}"
        f" → {_DID[Act(look.act)] if look.act else f'wait, {look.because}'}",
        highlight=False,
        soft_wrap=True,
    )


def print_outcome(console: Console, outcome: Outcome) -> None:
    """The sentence that matters."""
    last = outcome.looks[-1]
    if outcome.passed:
        console.print(
            f"[green]Stopped on step {last.step + 1} after {last.look} looks and {last.seconds:.0f} s, by itself: "
            f"{outcome.because}. Release {outcome.ended_with} holds what "
            f"release {outcome.began_with} held.[/green]",
            highlight=False,
            soft_wrap=True,
        )
    else:
        console.print(f"[red]Not stopped in time: the rollout is {outcome.state}. {outcome.because}[/red]")
