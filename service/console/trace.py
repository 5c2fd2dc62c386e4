"""One decision taken apart: every arm and what became of it, who gets which ladder, and the settings it starts with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final

from policies.arm import Arm, ModelSpec, executable_arms
from policies.assign import bucket, choose
from policies.decide import ModelDecision, Plan, Split, Verdict, decide_model
from policies.default_rule import ArmCoverage
from policies.document import Deny, PolicyDocument
from policies.errors import UnknownApp, UnknownModel
from policies.fingerprint import Fingerprint
from policies.knowledge import NOTHING_LEARNED, WHOLE_BP, RankedArm, Ranking
from policies.settings_of_arm import run_settings
from policies.vocabulary import Workload
from service.console.charts import Interval, bounds_ms, intervals
from service.release_content import ReleaseContent

_TAKEN_AWAY: Final = frozenset({"denied", "accuracy-budget", "excluded"})


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
class RankLine:
    """A learned estimate with its 95 % interval; `drawn` are its places on a shared axis. `usable`: not taken away."""

    learned: RankedArm
    low_ms: float
    high_ms: float
    drawn: Interval
    usable: bool


@dataclass(frozen=True, slots=True)
class SplitLine:
    """A split and the buckets it holds, first and last, both included."""

    split: Split
    first_bucket: int
    last_bucket: int


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything about the decision for one device, model and workload.

    `plan` is None where nothing can run. `bucket` and `chosen` (index into `splits`) are None without a unit id.
    `ladder` is the one served to the unit, or that of the largest split without a unit.
    """

    facts: Fingerprint
    release: int
    model: ModelSpec
    workload: Workload
    plan: Plan | None
    arms: tuple[ArmLine, ...]
    ranking: tuple[RankLine, ...]
    denies: tuple[Deny, ...]
    splits: tuple[SplitLine, ...]
    bucket: int | None
    chosen: int | None
    ladder: tuple[str, ...]
    settings: dict[str, Any]

    @property
    def propensity(self) -> float | None:
        """Chance that the arm this unit gets first was served."""
        return self.splits[self.chosen].split.weight_bp / WHOLE_BP if self.chosen is not None else None


def trace(
    facts: Fingerprint, content: ReleaseContent, app: str, model_name: str, workload: Workload, unit_id: str
) -> Trace:
    """The trace; raises UnknownApp or UnknownModel."""
    document, model = _asked(content, app, model_name)
    knowledge = content.knowledge(facts.driver_stack, app)
    decided = decide_model(facts, document, model, knowledge)
    plan = decided.plan(workload) if decided.plans else None
    splits = plan.splits if plan else ()
    number = bucket(plan.salt, unit_id) if plan and unit_id else None
    chosen = choose([s.weight_bp for s in splits], number) if number is not None else None
    ladder = splits[chosen].ladder if chosen is not None else _largest(splits)
    arms = {arm.id: arm for arm in executable_arms(facts, model)}
    return Trace(
        facts=facts,
        release=content.number,
        model=model,
        workload=workload,
        plan=plan,
        arms=_arm_lines(arms.values(), decided, workload, ladder),
        ranking=_rank_lines(knowledge.ranking(model.name, workload) or NOTHING_LEARNED, decided),
        denies=tuple(d for d in document.denies if d.id in decided.denied_by),
        splits=_split_lines(splits),
        bucket=number,
        chosen=chosen,
        ladder=ladder,
        settings=_settings(arms, decided, facts, workload, ladder),
    )


def _asked(content: ReleaseContent, app: str, name: str) -> tuple[PolicyDocument, ModelSpec]:
    document = content.documents.get(app)
    if document is None:
        raise UnknownApp(f"release {content.number} has no app {app!r}", field="model")
    model = next((m for m in content.models.get(app, ()) if m.name == name), None)
    if model is None:
        raise UnknownModel(f"release {content.number} has no model {name!r} of the app {app!r}", field="model")
    return document, model


def _largest(splits: tuple[Split, ...]) -> tuple[str, ...]:
    return max(splits, key=lambda s: s.weight_bp).ladder if splits else ()


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


def _rank_lines(ranking: Ranking, decided: ModelDecision) -> tuple[RankLine, ...]:
    ranked = [r for r in ranking.ranked if r.expected_ms > 0]
    drawn = intervals([(r.expected_ms, r.sd_log) for r in ranked])
    return tuple(
        RankLine(r, *bounds_ms(r.expected_ms, r.sd_log), place, r.arm in decided.arms and r.arm not in ranking.excluded)
        for r, place in zip(ranked, drawn, strict=True)
    )


def _split_lines(splits: tuple[Split, ...]) -> tuple[SplitLine, ...]:
    ends = accumulate(split.weight_bp for split in splits)
    return tuple(SplitLine(s, end - s.weight_bp, end - 1) for s, end in zip(splits, ends, strict=True))


def _settings(
    arms: dict[str, Arm], decided: ModelDecision, facts: Fingerprint, workload: Workload, ladder: tuple[str, ...]
) -> dict[str, Any]:
    """Settings of the first rung, flat: "limits.run_timeout_ms" → value."""
    if not ladder:
        return {}
    lead = ladder[0]
    settings = run_settings(arms[lead], facts, workload, decided.expected_ms.get((workload, lead)))
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        flat |= {f"{name}.{key}": inner for key, inner in value.items()} if isinstance(value, dict) else {name: value}
    return flat
