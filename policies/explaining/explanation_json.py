"""Explanation → JSON values: what `POST /v1/decide` answers and `nnfleet decide --json` prints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from policies.assign import HASH
from policies.explaining.explain import ArmLine, DenyLine, Explanation, RankLine, RuleLine, SplitLine
from policies.fingerprint import Fingerprint
from policies.wire import arms_json, plan_name

NO_BUCKETING_KEY: Final = "no-bucketing-key"
"""Nobody was drawn: the plan is split, and no unit was named."""


def device_json(facts: Fingerprint) -> dict[str, Any]:
    """The device as the server understood it."""
    return {
        "device_class": facts.device_class,
        "driver_stack": facts.driver_stack,
        "manufacturer": facts.manufacturer,
        "model": facts.model,
        "soc": facts.soc,
        "population": facts.population,
        "learnable": facts.learnable,
        "accelerated": facts.accelerated,
        "anomalies": [anomaly.model_dump() for anomaly in facts.anomalies],
    }


def explanation_json(made: Explanation) -> dict[str, Any]:
    """One model: what was chosen, by whom, for whom, and what became of every arm."""
    return {
        "chosen": chosen_json(made),
        "ladder": list(made.keys),
        "plan": _plan_json(made),
        "rollout": {"side": made.trial.side, "share": made.trial.share_bp} if made.trial else None,
        "bucket": made.bucket,
        "propensity": made.propensity,
        "reason": NO_BUCKETING_KEY if made.splits and made.chosen is None else None,
        "splits": [_split_json(line, index == made.chosen) for index, line in enumerate(made.splits)],
        "arms": [_arm_line_json(line) for line in made.arms],
        "rules": [_rule_json(line) for line in made.rules],
        "denies": [_deny_json(line) for line in made.denies],
        "learned": [_rank_json(line) for line in made.ranking],
    }


def chosen_json(made: Explanation) -> dict[str, Any] | None:
    """The arm to start with, as decision documents write it, under its id; None where nothing may run."""
    if not made.ladder:
        return None
    return {"arm": made.keys[0]} | arms_json(made.decided, made.facts)[made.ladder[0]]


def _plan_json(made: Explanation) -> dict[str, Any] | None:
    if made.plan is None:
        return None
    return {
        "name": made.trial.plan if made.trial else plan_name(made.decided, made.plan),
        "rule": made.plan.rule,
        "by": made.plan.by,
        "evidence": dict(made.plan.evidence),
        "salt": made.plan.salt,
        "hash": HASH,
    }


def _split_json(line: SplitLine, served: bool) -> dict[str, Any]:
    return {
        "weight": line.split.weight_bp,
        "ladder": list(line.split.ladder),
        "explore": line.split.explore,
        "side": line.side,
        "buckets": [line.first_bucket, line.last_bucket],
        "served": served,
    }


def _arm_line_json(line: ArmLine) -> dict[str, Any]:
    coverage = line.coverage
    return {
        "arm": line.arm.id,
        "variant": line.arm.variant.id,
        "rung": line.rung,
        "taken_away": line.taken_away,
        "verdicts": [{"code": verdict.code, "because": verdict.because} for verdict in line.verdicts],
        "coverage": {"share": coverage.share, "cuts": coverage.cuts, "basis": coverage.basis} if coverage else None,
    }


def _rule_json(line: RuleLine) -> dict[str, Any]:
    tried = line.tried
    told = {"id": tried.id, "when": line.rule.when, "fate": tried.fate, "because": tried.because}
    situation = {"situation": tried.situation.when} if tried.situation else {}
    return told | situation | {"facts": dict(line.facts), "unknown": list(tried.unknown)}


def _deny_json(line: DenyLine) -> dict[str, Any]:
    told = line.deny.model_dump(mode="json", include={"id", "arms", "reason", "until", "when"})
    tried = line.tried
    more = {"facts": dict(line.facts), "took_away": list(tried.arms), "unknown": list(tried.unknown)}
    return told | {"fate": tried.fate} | more


def _rank_json(line: RankLine) -> dict[str, Any]:
    learned = line.learned
    return {
        "arm": learned.arm,
        "expected_ms": learned.expected_ms,
        "low_ms": line.low_ms,
        "high_ms": line.high_ms,
        "sd_log": learned.sd_log,
        "windows": learned.n,
        "usable": line.usable,
    }


def explanations_json(app: str, release: int | None, made: Iterable[Explanation]) -> dict[str, Any]:
    """The whole answer. `release` is None for a policy that was never published; the unit id is not repeated."""
    explained = list(made)
    first = explained[0]
    moment = first.moment.model_dump(mode="json", exclude={"unit_id"})
    return {
        "app": app,
        "release": release,
        "device": device_json(first.facts),
        "request": moment,
        "models": {one.model.name: explanation_json(one) for one in explained},
    }
