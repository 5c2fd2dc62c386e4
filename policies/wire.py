"""Decision → the JSON that devices get. Deterministic: the same decision and release give the same bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from policies.assign import HASH
from policies.decide import Decision, ModelDecision
from policies.document import PolicyDocument
from policies.fingerprint import Fingerprint
from policies.model import GoldenReference
from policies.plans import Plan
from policies.settings_of_arm import run_settings
from policies.situation import Situation
from policies.vocabulary import Workload

MAIN_PLAN: Final = "main"
"""The plan that holds where no situation matches."""
NO_ACCELERATOR: Final = "no-accelerator"
"""Why a phone gets nothing but its CPU and its GPU. NNAPI's reference implementation is a CPU and no accelerator."""


def encoded(document: Mapping[str, Any]) -> bytes:
    """A document as it goes out."""
    return json.dumps(document, separators=(",", ":")).encode()


def to_wire(decision: Decision, document: PolicyDocument, release: int, issued_at: datetime) -> dict[str, Any]:
    """The decision document as plain values. `issued_at` is when the release went live."""
    return {
        "schema": 1,
        "app": decision.app,
        "release": release,
        "issued_at": _rfc3339(issued_at),
        "expires_at": expires_at(document, issued_at),
        "models": {d.model.name: model_json(d, decision.fingerprint) for d in decision.models},
        "telemetry": {"sample": document.telemetry.sample, "flush_s": document.telemetry.flush_s},
        "advice": list(decision.advice),
        **({"probe": list(decision.fingerprint.undetermined)} if decision.fingerprint.undetermined else {}),
    }


def expires_at(document: PolicyDocument, issued_at: datetime) -> str:
    """When a document issued then stops being valid (RFC 3339, UTC)."""
    return _rfc3339(issued_at + timedelta(seconds=document.valid_s))


def _rfc3339(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def model_json(decided: ModelDecision, fingerprint: Fingerprint) -> dict[str, Any]:
    """One model: its situations, plans and arms, and why."""
    situations = [{"when": when, "plan": plan_name(decided, plan)} for plan, when in _situations(decided.plans[1:])]
    golden = decided.model.golden
    return {
        "situations": [*situations, {"when": {}, "plan": MAIN_PLAN}],
        "plans": {plan_name(decided, plan): _plan(plan) for plan in decided.plans},
        "arms": arms_json(decided, fingerprint),
        **({"golden": golden_json(golden)} if golden else {}),
        "latency_target_ms": decided.model.latency_target_ms,
        "because": [
            *(_because(plan) for plan in decided.plans),
            *(() if fingerprint.accelerated else ({"reason": NO_ACCELERATOR},)),
            *({"deny": deny} for deny in decided.denied_by),
            *({"deny": tried.id, "unknown": list(tried.unknown)} for tried in decided.denies if tried.unknown),
            *({"rule": tried.id, "unknown": list(tried.unknown)} for tried in decided.rules if tried.unknown),
            *({"settings": name} for name in decided.settings.ids),
            *({"settings": name, "unknown": list(facts)} for name, facts in decided.settings.unknown.items()),
        ],
    }


def golden_json(golden: GoldenReference) -> dict[str, Any]:
    """The reference, and where its files are, if they are kept."""
    stated = golden.model_dump(mode="json", exclude_none=True)
    if golden.output_sha256 is None:
        return stated
    return stated | {"input_url": artifact_url(golden.input_sha256), "output_url": artifact_url(golden.output_sha256)}


def artifact_url(sha256: str) -> str:
    """Where a file is, seen from the server that the document came from."""
    return f"/v1/artifacts/{sha256}"


def plan_name(decided: ModelDecision, plan: Plan) -> str:
    """What documents and observations call the plan."""
    if plan is decided.plans[0]:
        return MAIN_PLAN
    if plan.situation is None:
        return plan.workload
    return str(plan.situation) if plan.situation.workload else f"{plan.workload}.{plan.situation}"


def _situations(plans: Sequence[Plan]) -> Iterator[tuple[Plan, dict[str, Any]]]:
    """Plans beside the main one with their conditions, in the order that a client tries them: the first that holds wins.

    A client that does not know its workload gets the burst plan of its situation, where every workload has one.
    """
    by_situation: dict[Situation | None, list[Plan]] = {}
    for plan in plans:
        by_situation.setdefault(plan.situation, []).append(plan)
    usual = by_situation.pop(None, [])
    for situation, found in by_situation.items():
        stated = situation.when if situation else {}
        for plan in reversed(found):
            last_of_all = len(found) == len(Workload) and plan is found[0]
            yield plan, stated if last_of_all else {"workload": plan.workload} | stated
    yield from ((plan, {"workload": plan.workload}) for plan in usual)


def _plan(plan: Plan) -> dict[str, Any]:
    splits = []
    for split in plan.splits:
        row: dict[str, Any] = {"weight": split.weight_bp, "ladder": list(split.ladder)}
        splits.append(row | {"explore": True} if split.explore else row)
    return {"salt": plan.salt, "hash": HASH, "splits": splits}


def _because(plan: Plan) -> Mapping[str, Any]:
    why: dict[str, Any] = {"rule": plan.rule, "workload": plan.workload}
    if plan.by is not None:
        why["by"] = plan.by
    return why | {k: round(v, 4) for k, v in plan.evidence.items()}


def arms_json(decided: ModelDecision, fingerprint: Fingerprint) -> dict[str, dict[str, Any]]:
    """How to run each arm that a plan names, by id: its file, its delegate, its settings."""
    named = {arm: plan.workload for plan in reversed(decided.plans) for split in plan.splits for arm in split.ladder}
    return {arm: _arm(decided, arm, workload, fingerprint) for arm, workload in sorted(named.items())}


def _arm(decided: ModelDecision, arm_id: str, workload: Workload, fingerprint: Fingerprint) -> dict[str, Any]:
    arm = decided.arms[arm_id]
    variant = arm.variant
    stated, expected_ms = decided.settings.options.get(arm_id, {}), decided.expected_ms.get((workload, arm_id))
    return {
        "variant": {
            "id": variant.id,
            "precision": variant.precision,
            "sha256": variant.sha256,
            "size_bytes": variant.size_bytes,
            "url": artifact_url(variant.sha256),
        },
        "runtime": variant.runtime,
        "delegate": arm.delegate,
        "accelerator": arm.accelerator.raw_name if arm.accelerator else None,
        **run_settings(arm, fingerprint, workload, expected_ms, stated),
    }
