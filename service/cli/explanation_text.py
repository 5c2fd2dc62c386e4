"""An explanation as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from policies.explaining.explain import ArmLine, DenyLine, Explanation, RankLine, RuleLine, SplitLine
from policies.figures import plain
from policies.fingerprint import Fingerprint


def brief(explained: Iterable[Explanation]) -> Iterator[str]:
    """A line a model: its ladder, or that nothing may run."""
    for made in explained:
        ladder = " → ".join(made.ladder) or "nothing may run: the app keeps its bundled default"
        yield f"{made.model.name}: {ladder}"


def full(explained: Sequence[Explanation], release: int | None) -> Iterator[str]:
    """Everything about every model."""
    yield from _device(explained[0].facts)
    yield f"release: {release if release is not None else 'none, from files'}"
    for made in explained:
        yield ""
        yield from _model(made)


def _device(facts: Fingerprint) -> Iterator[str]:
    soc = facts.soc or "unknown SoC"
    yield f"device: {facts.manufacturer} {facts.model}, {soc}, class {facts.device_class}, stack {facts.driver_stack}"
    yield f"population: {facts.population}{'' if facts.learnable else ', nothing is learned from it'}"
    yield from (f"anomaly: {anomaly.code}: {anomaly.detail}" for anomaly in facts.anomalies)


def _model(made: Explanation) -> Iterator[str]:
    yield f"{made.model.app}.{made.model.name}, {made.moment.workload}"
    yield from _section("ladder", (f"{rung}. {arm}" for rung, arm in enumerate(made.ladder, 1)))
    yield from _chosen(made)
    yield from _section("splits", (_split(line, index == made.chosen) for index, line in enumerate(made.splits)))
    yield from _section("arms", (text for line in made.arms for text in _arm(line)))
    yield from _section("rules", (text for line in made.rules for text in _rule(line)))
    yield from _section("denies", (text for line in made.denies for text in _deny(line)))
    yield from _section("learned", (_rank(line) for line in made.ranking))


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    yield f"  {title}:"
    found = [f"    {line}" for line in lines]
    yield from found or ["    none"]


def _chosen(made: Explanation) -> Iterator[str]:
    if made.plan is None:
        yield "  chosen: nothing may run, the app keeps its bundled default"
        return
    evidence = ", ".join(f"{name} {value:g}" for name, value in made.plan.evidence.items())
    by = f" of the rule {made.plan.by}" if made.plan.by else ""
    yield f"  chosen by: {made.plan.rule}{by}{f' ({evidence})' if evidence else ''}"
    bucket = "none, no unit was named" if made.bucket is None else f"{made.bucket} of 0…9999, salt {made.plan.salt}"
    propensity = "none, nobody was drawn" if made.propensity is None else f"{made.propensity:.4f}"
    yield f"  bucket: {bucket}; propensity: {propensity}"


def _split(line: SplitLine, served: bool) -> str:
    marks: list[str] = [line.side] if line.side else []
    marks += [mark for mark, holds in (("explores", line.split.explore), ("served", served)) if holds]
    buckets = f"buckets {line.first_bucket}–{line.last_bucket}"
    return f"{line.split.weight_bp / 100:g} %  {line.split.ladder[0]}  {', '.join([buckets, *marks])}"


def _arm(line: ArmLine) -> Iterator[str]:
    rung = f"rung {line.rung}" if line.rung else "taken away" if line.taken_away else "not in the ladder"
    yield f"{line.arm.id}  ({line.arm.variant.id}, {rung})"
    if line.coverage and line.coverage.share is not None:
        yield f"  coverage {line.coverage.share:.1%}, {line.coverage.cuts} cuts, {line.coverage.basis}"
    yield from (f"  {verdict.code}: {verdict.because}" for verdict in line.verdicts)


def _tried(name: str, fate: str, detail: str, unknown: Sequence[str]) -> str:
    told = detail or (f"unknown {', '.join(unknown)}" if unknown else "")
    return f"{name}: {fate}{f', {told}' if told else ''}"


def _rule(line: RuleLine) -> Iterator[str]:
    yield _tried(line.rule.id, line.tried.fate, line.tried.because, line.tried.unknown)
    yield from _condition(line.rule.when, line.facts)


def _deny(line: DenyLine) -> Iterator[str]:
    tried = _tried(line.deny.id, line.tried.fate, ", ".join(line.tried.arms), line.tried.unknown)
    yield f"{tried}: {line.deny.reason}"
    yield from _condition(line.deny.when, line.facts)


def _condition(when: str | None, facts: Mapping[str, Any]) -> Iterator[str]:
    if when is not None:
        yield f"  when {' '.join(when.split())}"
        yield from (f"  {name} is {value}" for name, value in facts.items())


def _rank(line: RankLine) -> str:
    known = line.learned
    usable = "" if line.usable else ", not available here"
    return f"{known.arm}  {plain(known.expected_ms)} ms ({plain(line.low_ms)}–{plain(line.high_ms)}), {known.n} windows{usable}"
