"""One decision taken apart: every arm and what became of it, who gets which ladder, and the settings it starts with."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final

from policies.arm import Arm, executable_arms
from policies.asked import Moment
from policies.assign import bucket, certain, choose
from policies.decide import ModelDecision, decide_model
from policies.default_rule import ArmCoverage
from policies.document import PolicyDocument
from policies.explaining.deciding_facts import DecidingFacts
from policies.fingerprint import Fingerprint
from policies.knowledge import NOTHING_LEARNED, WHOLE_BP, Knowledge, RankedArm, Ranking
from policies.model import ModelSpec
from policies.plans import Plan, Split
from policies.rollouts.staging import Side, keyed
from policies.rules.deny import Deny
from policies.rules.refusals import Verdict
from policies.rules.rule import StatedRule
from policies.rules.tried import Fate, TriedDeny, TriedRule
from policies.vocabulary import Workload

_TAKEN_AWAY: Final = frozenset({"denied", "integers-only", "accuracy-budget", "excluded"})
_Z_95: Final = 1.959964


@dataclass(frozen=True, slots=True)
class ArmLine:
    """An arm with its verdicts. `rung` is its place in the ladder served, from 1; None where it is not in it."""

    arm: Arm
    verdicts: tuple[Verdict, ...]
    coverage: ArmCoverage | None
    rung: int | None

    @property
    def taken_away(self) -> bool:
        """Whether it must not run."""
        return any(verdict.code in _TAKEN_AWAY for verdict in self.verdicts)


@dataclass(frozen=True, slots=True)
class RuleLine:
    """A rule that was asked, what became of it, and the facts that its condition reads, as far as they are known."""

    rule: StatedRule
    tried: TriedRule
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DenyLine:
    """A deny that was asked, what became of it, and the facts that its condition reads, as far as they are known."""

    deny: Deny
    tried: TriedDeny
    facts: Mapping[str, Any]

    @property
    def took_away(self) -> bool:
        """Whether an arm is gone because of it."""
        return self.tried.fate is Fate.TOOK_AWAY


@dataclass(frozen=True, slots=True)
class RankLine:
    """A learned estimate with its 95 % interval, that of a log-normal. `usable`: the device has it, not taken away."""

    learned: RankedArm
    low_ms: float
    high_ms: float
    usable: bool


@dataclass(frozen=True, slots=True)
class SplitLine:
    """A split and the buckets it holds, first and last, both included. In a rollout, whose `side` it is."""

    split: Split
    first_bucket: int
    last_bucket: int
    side: Side | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """A rollout that the unit is drawn in: its side (None: who waits), the share tried, the plan's name in documents."""

    side: Side | None
    share_bp: int
    plan: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything about the decision for one device, model and moment.

    `plan` is None where nothing can run. `bucket` is None without a unit id; `chosen` (index into `splits`) is None
    where a draw would need one. `ladder` is the one served; where nobody was drawn, the one that a client without a unit serves.
    """

    facts: Fingerprint
    decided: ModelDecision
    moment: Moment
    plan: Plan | None
    arms: tuple[ArmLine, ...]
    ranking: tuple[RankLine, ...]
    rules: tuple[RuleLine, ...]
    denies: tuple[DenyLine, ...]
    splits: tuple[SplitLine, ...]
    bucket: int | None
    chosen: int | None
    ladder: tuple[str, ...]
    trial: Trial | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """The ladder as documents and observations name its arms: in a rollout with their side."""
        return tuple(keyed(arm, self.trial.side if self.trial else None) for arm in self.ladder)

    @property
    def model(self) -> ModelSpec:
        """The model that is decided for."""
        return self.decided.model

    @property
    def propensity(self) -> float | None:
        """Chance (0…1) that the arm served first was served, over all splits that it leads; None where none was.

        In a rollout over those of its side: the chance of its key.
        """
        if self.chosen is None:
            return None
        served = _lead(self.splits[self.chosen])
        return sum(line.split.weight_bp for line in self.splits if _lead(line) == served) / WHOLE_BP


def explain(
    facts: Fingerprint, document: PolicyDocument, model: ModelSpec, knowledge: Knowledge, moment: Moment
) -> Explanation:
    """The explanation. Pure: the same values give the same answer, and it is the answer that `decide` gives."""
    deciding = DecidingFacts(facts, model, knowledge, moment)
    decided = decide_model(facts, document, model, knowledge, moment.facts)
    plan = decided.plan(moment) if decided.plans else None
    splits = plan.splits if plan else ()
    number = bucket(plan.salt, moment.unit_id) if plan and moment.unit_id else None
    chosen = _chosen(splits, number)
    ladder = splits[chosen].ladder if chosen is not None else _undrawn(splits)
    return Explanation(
        facts=facts,
        decided=decided,
        moment=moment,
        plan=plan,
        arms=_arm_lines(executable_arms(facts, model), decided, moment.workload, ladder),
        ranking=_rank_lines(knowledge.ranking(model.name, moment.workload) or NOTHING_LEARNED, decided),
        rules=_rule_lines(document, decided, moment, deciding),
        denies=_deny_lines(document, decided, deciding),
        splits=_split_lines(splits),
        bucket=number,
        chosen=chosen,
        ladder=ladder,
    )


def _lead(line: SplitLine) -> tuple[str, Side | None]:
    return line.split.ladder[0], line.side


def _chosen(splits: Sequence[Split], number: int | None) -> int | None:
    weights_bp = [split.weight_bp for split in splits]
    return certain(weights_bp) if number is None else choose(weights_bp, number)


def _undrawn(splits: tuple[Split, ...]) -> tuple[str, ...]:
    """What clients serve without a unit: nobody is in a share that grows, which stands first, and nobody explores."""
    steady = [split for split in splits if not split.explore and split.weight_bp > 0]
    return next((split.ladder for split in (*reversed(steady), *splits)), ())


def _arm_lines(
    arms: Iterable[Arm], decided: ModelDecision, workload: Workload, ladder: tuple[str, ...]
) -> tuple[ArmLine, ...]:
    """The ladder first, then what could run, then what must not."""
    verdicts: defaultdict[str, list[Verdict]] = defaultdict(list)
    for verdict in decided.verdicts:
        if verdict.code != "excluded" or verdict.because.startswith(f"{workload}: "):
            verdicts[verdict.arm].append(verdict)
    order = {arm: place for place, arm in enumerate(verdicts)}
    lines = [
        ArmLine(
            arm,
            tuple(verdicts[arm.id]),
            decided.coverage.get(arm.id),
            ladder.index(arm.id) + 1 if arm.id in ladder else None,
        )
        for arm in arms
    ]
    return tuple(
        sorted(lines, key=lambda line: (line.rung or len(ladder) + 1, line.taken_away, order.get(line.arm.id, 0)))
    )


def _rule_lines(
    document: PolicyDocument, decided: ModelDecision, moment: Moment, deciding: DecidingFacts
) -> tuple[RuleLine, ...]:
    """Those asked for this moment, in their order."""
    stated = {rule.id: rule for rule in document.rules}
    asked = [(stated[tried.id], tried) for tried in decided.rules if _asked_in(tried, moment)]
    return tuple(RuleLine(rule, tried, deciding.of(rule.when)) for rule, tried in asked)


def _asked_in(tried: TriedRule, moment: Moment) -> bool:
    fits = tried.situation is None or tried.situation.holds(moment)
    return fits and tried.workload in {None, moment.workload}


def _deny_lines(document: PolicyDocument, decided: ModelDecision, deciding: DecidingFacts) -> tuple[DenyLine, ...]:
    stated = {deny.id: deny for deny in document.denies}
    asked = [(stated[tried.id], tried) for tried in decided.denies]
    return tuple(DenyLine(deny, tried, deciding.of(deny.when)) for deny, tried in asked)


def _rank_lines(ranking: Ranking, decided: ModelDecision) -> tuple[RankLine, ...]:
    ranked = [r for r in ranking.ranked if r.expected_ms > 0]
    spread = [math.exp(_Z_95 * r.sd_log) for r in ranked]
    return tuple(
        RankLine(r, r.expected_ms / s, r.expected_ms * s, r.arm in decided.arms and r.arm not in ranking.excluded)
        for r, s in zip(ranked, spread, strict=True)
    )


def _split_lines(splits: tuple[Split, ...]) -> tuple[SplitLine, ...]:
    ends = accumulate(split.weight_bp for split in splits)
    return tuple(SplitLine(s, end - s.weight_bp, end - 1) for s, end in zip(splits, ends, strict=True))
