"""One use of a model on this machine: the ladder, walked by the SDK, also past a driver that kills its process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from nnfleet_client import FleetClient, Outcome, ProcessDied, Runner

MOST_DEATHS: Final = 8
"""More than any ladder has rungs."""


@dataclass(frozen=True, slots=True)
class Use:
    """What a use came to; `deaths` of child processes on the way, whose marks are all that is left of those starts."""

    outcome: Outcome | None
    deaths: int


def use(client: FleetClient, model: str, runner: Runner, runs: int, workload: str) -> Use:
    """Walk the ladder. An arm whose process died is under suspicion from then on: the next walk passes it over.

    `outcome` is None where even that many deaths led past none that lives.
    """
    for deaths in range(MOST_DEATHS):
        try:
            return Use(client.use(model, runner, runs, workload=workload), deaths)
        except ProcessDied:
            continue
    return Use(None, MOST_DEATHS)
