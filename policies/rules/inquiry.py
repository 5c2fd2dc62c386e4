"""One device, asked many conditions: each is asked again only when something that it depends on has changed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from policies.arm import Arm
from policies.arm_coverage import arm_coverage
from policies.facts import arm_roots, device_roots, model_roots, supports_of
from policies.fingerprint import Fingerprint
from policies.knowledge import Knowledge
from policies.language import Condition, Context, Outcome
from policies.model import ModelSpec
from policies.rules.scope import Named, Scope


class Inquiry:
    """The facts of one device and request, and what was answered about them. Prepared when the first condition asks.

    Only what `named` lists is prepared: handing a fact over costs a microsecond, asking about it a fifth of one.
    """

    def __init__(self, facts: Fingerprint, knowledge: Knowledge, request: Mapping[str, Any], named: Named) -> None:
        self._facts = facts
        self._knowledge = knowledge
        self._request = request
        self._named = named
        self._answers: dict[tuple[int, str], Outcome] = {}
        self._about: tuple[str, str] = ("", "")

    @cached_property
    def _context(self) -> Context:
        roots = device_roots(self._facts) | {"request": self._request}
        return Context(self._read(roots), supports_of(self._facts))

    def ask(self, condition: Condition, scope: Scope, model: ModelSpec, arm: Arm | None = None) -> Outcome:
        """The answer for the device, this model and this arm, which a condition of the scope ARM needs.

        Ask all conditions about one arm before those about another: changing it costs more than asking.
        """
        if scope is Scope.ARM and arm is not None:
            self._turn_to(model, arm)
            return condition.evaluate(self._context)
        key = (id(condition), model.name if scope is Scope.MODEL else "")
        answer = self._answers.get(key)
        if answer is None:
            if scope is Scope.MODEL:
                self._turn_to(model, None)
            answer = self._answers[key] = condition.evaluate(self._context)
        return answer

    def _turn_to(self, model: ModelSpec, arm: Arm | None) -> None:
        of_model, of_arm = self._about
        if model.name != of_model:
            self._context.update(self._read(model_roots(model, self._knowledge)))
            of_arm = ""
        if arm is not None and arm.id != of_arm:
            self._context.update(self._read(arm_roots(arm, arm_coverage(arm), self._facts)))
            of_arm = arm.id
        self._about = (model.name, of_arm)

    def _read(self, roots: Mapping[str, Any]) -> dict[str, Any]:
        """Of these roots what any condition reads."""
        read: dict[str, Any] = {}
        for root in roots.keys() & self._named.keys():
            facts = self._named[root]
            read[root] = roots[root] if facts is None else {fact: roots[root].get(fact) for fact in facts}
        return read
