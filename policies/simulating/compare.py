"""One model on one kind of phone, before and after: what changes, for which share of units, and at which latency."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

from policies.asked import Moment
from policies.decide import Decision, ModelDecision
from policies.fingerprint import Fingerprint
from policies.knowledge import NOTHING_LEARNED, Ranking
from policies.plans import Plan
from policies.rules.tried import Fate
from policies.simulating.basis import Proposed
from policies.simulating.effect import Effect, Rung, effect_of, served, steady
from policies.vocabulary import Workload

_EXPLORES: Final = "(explores)"


@dataclass(frozen=True, slots=True)
class Latency:
    """Expected latencies of what is served before and after, and of the best arm that either allows, in ms."""

    before_ms: float
    after_ms: float
    best_ms: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a change does to a model on a kind of phone, for the workload where it is gravest.

    `moved_bp` of 10,000 units start with another arm. `latency` is None where the rankings do not know every arm that
    leads. `denies` and `rules` are those that newly take arms away or choose, `no_longer` those that did.
    """

    model: str
    effect: Effect | None
    workload: Workload = Workload.BURST
    before: Rung | None = None
    after: Rung | None = None
    moved_bp: int = 0
    latency: Latency | None = None
    denies: frozenset[str] = frozenset()
    rules: frozenset[str] = frozenset()
    no_longer: frozenset[str] = frozenset()

    @property
    def notable(self) -> bool:
        """Whether there is anything to tell."""
        return self.effect is not None or bool(self.denies or self.rules or self.no_longer)


def comparisons(proposed: Proposed, facts: Fingerprint) -> tuple[Comparison, ...]:
    """Every model of the app on this phone, decided twice; those of which there is something to tell."""
    found = [_by_model(basis.decided(facts)) for basis in proposed.both]
    learned = [basis.knowledge(facts.driver_stack) for basis in reversed(proposed.both)]
    made = []
    for name in proposed.models:
        before, after = (models.get(name) for models in found)
        effect, workload = effect_of(before, after, facts)
        ranking = next((r for one in learned if (r := one.ranking(name, workload))), NOTHING_LEARNED)
        made.append(_comparison(f"{proposed.app}/{name}", effect, workload, before, after, ranking))
    return tuple(one for one in made if one.notable)


def _by_model(decision: Decision | None) -> dict[str, ModelDecision]:
    return {one.model.name: one for one in decision.models} if decision else {}


def _comparison(
    model: str,
    effect: Effect | None,
    workload: Workload,
    before: ModelDecision | None,
    after: ModelDecision | None,
    ranking: Ranking,
) -> Comparison:
    (denies, rules), (denied, ruled) = _acting(after), _acting(before)
    return Comparison(
        model=model,
        effect=effect,
        workload=workload,
        before=served(before, workload).lead if before else None,
        after=served(after, workload).lead if after else None,
        moved_bp=_moved_bp(_plan(before, workload), _plan(after, workload)),
        latency=_latency(before, after, workload, ranking),
        denies=denies - denied,
        rules=rules - ruled,
        no_longer=(denied - denies) | (ruled - rules),
    )


def _acting(decided: ModelDecision | None) -> tuple[frozenset[str], frozenset[str]]:
    """(denies that took an arm away, rules that chose)."""
    if decided is None:
        return frozenset(), frozenset()
    chose = frozenset(tried.id for tried in decided.rules if tried.fate is Fate.CHOSE)
    return frozenset(decided.denied_by), chose


def _plan(decided: ModelDecision | None, workload: Workload) -> Plan | None:
    return decided.plan(Moment(workload=workload)) if decided else None


def _moved_bp(before: Plan | None, after: Plan | None) -> int:
    """Units whose first arm differs: both plans draw with one salt, so that a bucket is the same units in both."""
    old, new = _leads(before), _leads(after)
    ends = sorted({0, *old, *new})
    return sum(high - low for low, high in pairwise(ends) if _lead_at(old, low) != _lead_at(new, low))


def _leads(plan: Plan | None) -> dict[int, str]:
    """Last bucket, not included → the arm that leads up to it."""
    if plan is None:
        return {10_000: ""}
    kept = steady(plan)
    ends = accumulate(split.weight_bp for split in plan.splits)
    return {end: split.ladder[0] if split in kept else _EXPLORES for end, split in zip(ends, plan.splits, strict=True)}


def _lead_at(leads: dict[int, str], bucket: int) -> str:
    return next(lead for end, lead in leads.items() if bucket < end)


def _latency(
    before: ModelDecision | None, after: ModelDecision | None, workload: Workload, ranking: Ranking
) -> Latency | None:
    """Both sides by one ranking; who explores is left out. An estimate of no time at all is none."""
    if before is None or after is None:
        return None
    believed = (row for row in ranking.ranked if row.arm not in ranking.excluded and row.expected_ms > 0)
    known = {row.arm: row.expected_ms for row in believed}
    runs = [known[arm] for arm in before.arms.keys() | after.arms.keys() if arm in known]
    times = [_expected_ms(_plan(side, workload), known) for side in (before, after)]
    if times[0] is None or times[1] is None or not runs:
        return None
    return Latency(times[0], times[1], min(runs))


def _expected_ms(plan: Plan | None, known: dict[str, float]) -> float | None:
    splits = [split for split in plan.splits if not split.explore] if plan else []
    if not splits or any(split.ladder[0] not in known for split in splits):
        return None
    return sum(s.weight_bp * known[s.ladder[0]] for s in splits) / sum(s.weight_bp for s in splits)
