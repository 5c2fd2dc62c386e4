"""Which class gets which variant of a model: a page of classes, each decided as the live release decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row
from sqlmodel import Session

from policies.decide import ModelDecision, decide_model
from policies.default_rule import ArmCoverage
from policies.fingerprint import Fingerprint
from policies.model import ModelSpec
from service.releasing.release_content import ReleaseContent
from service.store import reports


@dataclass(frozen=True, slots=True)
class VariantShare:
    """The part of units (basis points) that begin with a variant, and on which arms."""

    variant: str
    share_bp: int
    arms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClassVariants:
    """What a class gets in short bursts. `rule` is None where nothing may run; `coverage` is that of the first rung."""

    row: Row[Any]
    rule: str | None
    shares: tuple[VariantShare, ...]
    expected_ms: float | None
    coverage: ArmCoverage | None


def class_variants(
    session: Session, content: ReleaseContent, spec: ModelSpec, rows: Sequence[Row[Any]]
) -> Iterator[ClassVariants]:
    """One a row of `class_facts`; facts are those that the class was stored with. One query."""
    known = reports.fingerprints(session, [row.device_class for row in rows])
    for row in rows:
        yield _variants(content, spec, row, known[row.device_class])


def _variants(content: ReleaseContent, spec: ModelSpec, row: Row[Any], facts: Fingerprint) -> ClassVariants:
    decision = decide_model(facts, content.documents[spec.app], spec, content.knowledge(facts.driver_stack, spec.app))
    if not decision.plans:
        return ClassVariants(row, None, (), None, None)
    plan = decision.plans[0]
    lead = plan.splits[0].ladder[0]
    return ClassVariants(
        row, plan.rule, _shares(decision), decision.expected_ms.get((plan.workload, lead)), decision.coverage.get(lead)
    )


def _shares(decision: ModelDecision) -> tuple[VariantShare, ...]:
    """By the first rung of each split, the largest share first."""
    found: dict[str, VariantShare] = {}
    for split in decision.plans[0].splits:
        arm = split.ladder[0]
        variant = decision.arms[arm].variant.id
        before = found.get(variant, VariantShare(variant, 0, ()))
        found[variant] = VariantShare(variant, before.share_bp + split.weight_bp, (*before.arms, arm))
    return tuple(sorted(found.values(), key=lambda share: -share.share_bp))
