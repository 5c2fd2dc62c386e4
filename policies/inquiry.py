"""One device, asked many conditions: each is asked again only when something that it depends on has changed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

from policies.arm import Arm, ModelSpec
from policies.arm_coverage import arm_coverage
from policies.facts import arm_roots, device_roots, model_roots, supports_of
from policies.fingerprint import Fingerprint
from policies.knowledge import Knowledge
from policies.language import Condition, Context, Outcome

ARM_ROOTS: Final = frozenset({"arm", "variant", "coverage"})
_MODEL_ROOTS: Final = frozenset({"model", "history"})


class Inquiry:
    """The facts of one device and request, and what was answered about them. Prepared when the first condition asks."""

    def __init__(self, facts: Fingerprint, knowledge: Knowledge, request: Mapping[str, Any]) -> None:
        self._facts = facts
        self._knowledge = knowledge
        self._request = request
        self._answers: dict[tuple[int, str, str], Outcome] = {}
        self._stated: tuple[str, str] = ("", "")

    @cached_property
    def _context(self) -> Context:
        return Context(device_roots(self._facts) | {"request": self._request}, supports_of(self._facts))

    def ask(self, condition: Condition, model: ModelSpec, arm: Arm | None = None) -> Outcome:
        """The answer for the device, this model and this arm; an arm is needed where the condition names one."""
        about_arm = not ARM_ROOTS.isdisjoint(condition.roots)
        about_model = about_arm or not _MODEL_ROOTS.isdisjoint(condition.roots)
        scope = (model.name if about_model else "", arm.id if arm is not None and about_arm else "")
        key = (id(condition), *scope)
        if key not in self._answers:
            self._state(model, arm, scope)
            self._answers[key] = condition.evaluate(self._context)
        return self._answers[key]

    def _state(self, model: ModelSpec, arm: Arm | None, scope: tuple[str, str]) -> None:
        of_model, of_arm = self._stated
        if scope[0] and scope[0] != of_model:
            self._context.update(model_roots(model, self._knowledge))
            of_model, of_arm = scope[0], ""
        if arm is not None and scope[1] and scope[1] != of_arm:
            self._context.update(arm_roots(arm, arm_coverage(arm), self._facts))
            of_arm = scope[1]
        self._stated = (of_model, of_arm)
