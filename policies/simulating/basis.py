"""What the decisions of one app are made from, with and without a change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from policies.decide import Decision, decide
from policies.document import PolicyDocument
from policies.fingerprint import Fingerprint
from policies.knowledge import Knowledge
from policies.model import ModelSpec

LearnedOfApp = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""driver stack → model → workload → `Ranking.to_json()`."""


@dataclass(frozen=True)
class Basis:
    """Document, models and rankings of one app. `document` None: the app is not there, and nothing is decided."""

    document: PolicyDocument | None
    models: tuple[ModelSpec, ...] = ()
    learned: LearnedOfApp = field(default_factory=dict)

    def knowledge(self, driver_stack: str) -> Knowledge:
        """What the fleet has taught about the stack."""
        return Knowledge.from_json(self.learned.get(driver_stack, {}))

    def decided(self, facts: Fingerprint) -> Decision | None:
        """The decision for a phone; None where the app is not there."""
        if self.document is None:
            return None
        return decide(facts, self.document, self.models, self.knowledge(facts.driver_stack))


@dataclass(frozen=True)
class Proposed:
    """One app before and after a change."""

    app: str
    before: Basis
    after: Basis

    @property
    def both(self) -> tuple[Basis, Basis]:
        """Before, then after."""
        return self.before, self.after

    @cached_property
    def models(self) -> tuple[str, ...]:
        """Names of the models that either has."""
        return tuple(sorted({spec.name for basis in self.both for spec in basis.models}))
