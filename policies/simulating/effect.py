"""What becomes of one model on one kind of phone: the worst that changes, and between what.

Arms that explore before anything was learned are drawn by the device class. They are compared as a share and a set of
candidates, so that what is found holds for every class that is equal in what decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from policies.asked import Moment
from policies.decide import ModelDecision
from policies.fingerprint import Fingerprint
from policies.knowledge import WHOLE_BP
from policies.plans import Plan, Rule, Split
from policies.vocabulary import Delegate, Workload
from policies.wire import model_json


class Effect(StrEnum):
    """The kinds of change, the gravest first. A change that is several is the first of them."""

    NOTHING_RUNS = "nothing-runs"
    NO_ACCELERATOR = "no-accelerator"
    LEADER = "leader"
    VARIANT = "variant"
    LADDER = "ladder"
    EXPLORATION = "exploration"
    SETTINGS = "settings"
    NEW = "new"

    @property
    def place(self) -> int:
        """0 for the gravest."""
        return _PLACES[self]


_PLACES: Final = {effect: place for place, effect in enumerate(Effect)}


class Rung(NamedTuple):
    """An arm with the file it runs."""

    arm: str
    variant: str
    sha256: str


Share = tuple[int, tuple[Rung, ...]]
"""(weight in 10,000, ladder)."""


@dataclass(frozen=True, slots=True)
class Served:
    """What phones of a kind get of a model for one workload. `lead` is the first rung of the largest share."""

    lead: Rung
    accelerated: bool
    shares: tuple[Share, ...]
    exploring: tuple[int, tuple[tuple[str, str], ...]]
    situations: tuple[tuple[str, tuple[Share, ...]], ...]


def served(decided: ModelDecision, workload: Workload) -> Served:
    """What is served; the decision has plans."""
    plan = decided.plan(Moment(workload=workload))
    shares = _shares(plan, decided)
    largest = max(shares, key=lambda share: share[0])[1]
    return Served(
        lead=largest[0],
        accelerated=any(decided.arms[rung.arm].delegate is not Delegate.CPU for rung in largest),
        shares=shares,
        exploring=_exploring(plan, decided),
        situations=tuple((f"{p.workload}:{p.situation}", _shares(p, decided)) for p in decided.plans if p.situation),
    )


def steady(plan: Plan) -> tuple[Split, ...]:
    """The splits that do not depend on the device class."""
    drawn = plan.rule is Rule.OUT_OF_THE_BOX
    return tuple(split for split in plan.splits if not (drawn and split.explore))


def _shares(plan: Plan, decided: ModelDecision) -> tuple[Share, ...]:
    """Of the units that do not explore by a draw: the out-of-the-box rule gives them one ladder."""
    drawn = plan.rule is Rule.OUT_OF_THE_BOX
    return tuple(
        (WHOLE_BP if drawn else split.weight_bp, tuple(_rung(arm, decided) for arm in split.ladder))
        for split in steady(plan)
    )


def _rung(arm: str, decided: ModelDecision) -> Rung:
    variant = decided.arms[arm].variant
    return Rung(arm, variant.id, variant.sha256)


def _exploring(plan: Plan, decided: ModelDecision) -> tuple[int, tuple[tuple[str, str], ...]]:
    """(share that explores by the draw of the class, the arms it is drawn from as the out-of-the-box rule sees them)."""
    weight_bp = sum(split.weight_bp for split in plan.splits) - sum(split.weight_bp for split in steady(plan))
    if not weight_bp:
        return 0, ()
    return weight_bp, tuple((verdict.arm, verdict.code) for verdict in decided.verdicts if verdict.arm in decided.arms)


_DIFFERS: Final[tuple[tuple[Effect, Callable[[Served, Served], bool]], ...]] = (
    (Effect.NO_ACCELERATOR, lambda old, new: old.accelerated and not new.accelerated),
    (Effect.LEADER, lambda old, new: old.lead.arm != new.lead.arm),
    (Effect.VARIANT, lambda old, new: old.lead != new.lead),
    (Effect.LADDER, lambda old, new: (old.shares, old.situations) != (new.shares, new.situations)),
    (Effect.EXPLORATION, lambda old, new: old.exploring != new.exploring),
)
_SETTINGS: Final = ("situations", "plans", "arms", "golden", "latency_target_ms")


def effect_of(
    before: ModelDecision | None, after: ModelDecision | None, facts: Fingerprint
) -> tuple[Effect | None, Workload]:
    """The gravest change and the workload it is for; None where a phone notices nothing."""
    if before is None or after is None:
        return (Effect.NEW if after else Effect.NOTHING_RUNS if before else None), Workload.BURST
    found = [(effect, workload) for workload in Workload for effect in _effects(before, after, workload)]
    if found:
        return min(found, key=lambda pair: pair[0].place)
    return (Effect.SETTINGS if _settings_differ(before, after, facts) else None), Workload.BURST


def _effects(before: ModelDecision, after: ModelDecision, workload: Workload) -> Iterable[Effect]:
    old, new = served(before, workload), served(after, workload)
    return (effect for effect, differs in _DIFFERS if differs(old, new))


def _settings_differ(before: ModelDecision, after: ModelDecision, facts: Fingerprint) -> bool:
    old, new = model_json(before, facts), model_json(after, facts)
    return any(old.get(part) != new.get(part) for part in _SETTINGS)
