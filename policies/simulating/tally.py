"""Outlooks counted: how many classes, reports and measured windows change, how, and where it gets worse first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from policies.simulating.compare import Comparison
from policies.simulating.effect import Effect, Rung
from policies.simulating.simulator import Outlook
from policies.vocabulary import Workload

CLASSES_KEPT: Final = 5
"""Classes that a transition names, for looking closer."""
UNKNOWN: Final = "(unknown)"


@dataclass(slots=True)
class Count:
    """How many. `windows` are measured uses of the apps concerned, the only trace of how often a class asks."""

    classes: set[str] = field(default_factory=set)
    reports: int = 0
    windows: float = 0.0

    def add(self, device_class: str, windows: float) -> None:
        """One report more."""
        self.classes.add(device_class)
        self.reports += 1
        self.windows += windows


class Transition(NamedTuple):
    """From what to what a model goes."""

    model: str
    effect: Effect
    workload: Workload
    before: Rung | None
    after: Rung | None


@dataclass(slots=True)
class Figures:
    """Means over reports: `moved_bp_sum` of units, and latencies where the rankings know them (`known` reports)."""

    moved_bp_sum: int = 0
    known: int = 0
    before_ms_sum: float = 0.0
    after_ms_sum: float = 0.0
    before_regret_sum: float = 0.0
    after_regret_sum: float = 0.0

    def add(self, made: Comparison) -> None:
        """One report more."""
        self.moved_bp_sum += made.moved_bp
        if made.latency is not None:
            self.known += 1
            self.before_ms_sum += made.latency.before_ms
            self.after_ms_sum += made.latency.after_ms
            self.before_regret_sum += made.latency.before_ms / made.latency.best_ms
            self.after_regret_sum += made.latency.after_ms / made.latency.best_ms


@dataclass(slots=True)
class Moved:
    """One transition, counted."""

    count: Count = field(default_factory=Count)
    figures: Figures = field(default_factory=Figures)


class Tally:
    """What was seen so far. `changed` counts a report once, by the gravest that happens to any of its models."""

    def __init__(self) -> None:
        self.seen = Count()
        self.changed: defaultdict[Effect, Count] = defaultdict(Count)
        self.transitions: defaultdict[Transition, Moved] = defaultdict(Moved)
        self.stated: defaultdict[tuple[str, str], Count] = defaultdict(Count)
        self.by_fact: defaultdict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
        self.figures = Figures()
        self.worse: dict[tuple[str, str], tuple[Comparison, int]] = {}

    def add(self, outlook: Outlook, windows: float) -> None:
        """One report of that outlook; `windows` is its part of what its class has measured."""
        self.seen.add(outlook.device_class, windows)
        effects = [made.effect for made in outlook.comparisons if made.effect is not None]
        if effects:
            gravest = min(effects, key=lambda effect: effect.place)
            self.changed[gravest].add(outlook.device_class, windows)
        for fact, value in _facts(outlook):
            row = self.by_fact[fact, value]
            row[0] += 1
            row[1] += bool(effects)
        for made in outlook.comparisons:
            self._compare(made, outlook.device_class, windows)

    def _compare(self, made: Comparison, device_class: str, windows: float) -> None:
        for what, names in (("deny", made.denies), ("rule", made.rules), ("no-longer", made.no_longer)):
            for name in names:
                self.stated[what, name].add(device_class, windows)
        if made.effect is None:
            return
        moved = self.transitions[Transition(made.model, made.effect, made.workload, made.before, made.after)]
        moved.count.add(device_class, windows)
        moved.figures.add(made)
        self.figures.add(made)
        if slower(made) > 1:
            _, reports = self.worse.get((device_class, made.model), (made, 0))
            self.worse[device_class, made.model] = made, reports + 1


def slower(made: Comparison) -> float:
    """How much worse it gets: infinite where nothing runs or the accelerator is gone, else the ratio of latencies."""
    if made.effect in {Effect.NOTHING_RUNS, Effect.NO_ACCELERATOR} and made.latency is None:
        return float("inf")
    return made.latency.after_ms / made.latency.before_ms if made.latency else 0.0


def worst(tally: Tally, most: int) -> list[tuple[str, Comparison, int]]:
    """(class, what becomes of it, reports) of those that get worse: nothing runs, no accelerator, then by latency."""
    found = [(device_class, made, reports) for (device_class, _), (made, reports) in tally.worse.items()]
    return sorted(found, key=lambda row: (_gravity(row[1]), -slower(row[1]), -row[2], row[0], row[1].model))[:most]


def _gravity(made: Comparison) -> int:
    grave = {Effect.NOTHING_RUNS: 0, Effect.NO_ACCELERATOR: 1}
    return grave.get(made.effect, 2) if made.effect else 2


def _facts(outlook: Outlook) -> Iterable[tuple[str, str]]:
    return (
        ("soc", outlook.soc or UNKNOWN),
        ("soc_vendor", outlook.soc_vendor or UNKNOWN),
        ("api_level", str(outlook.api_level)),
    )
