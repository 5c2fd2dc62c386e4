"""Whether anything that differs between two bases can matter to a phone, told without deciding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

from policies.document import PolicyDocument
from policies.fingerprint import Fingerprint
from policies.knowledge import Knowledge
from policies.language import Condition
from policies.rules.inquiry import Inquiry
from policies.rules.scope import Scope
from policies.rules.standing import Standing
from policies.simulating.basis import Basis, Proposed
from policies.validation import Stated

_ASKED_APART: Final = {"rules", "denies"}
S = TypeVar("S", bound=Stated)


class Concern:
    """What differs for one app. A deny or rule that only one side has concerns the phones that its condition holds on."""

    def __init__(self, proposed: Proposed) -> None:
        self._before, self._after = proposed.both
        self._everybody = _everybody(self._before, self._after)
        old, new = self._before.document, self._after.document
        self._changed = Standing((), ())
        if not self._everybody and old is not None and new is not None:
            self._changed = Standing(_in_one(old.denies, new.denies), _in_one(old.rules, new.rules))

    def of(self, facts: Fingerprint) -> bool:
        """False: the phone gets on both sides the same. True: it has to be decided."""
        if self._everybody or self._learned_differs(facts.driver_stack):
            return True
        inquiry = Inquiry(facts, Knowledge(), {}, self._changed.named)
        return any(self._may_matter(facts, model.name, inquiry) for model in self._after.models)

    def _learned_differs(self, stack: str) -> bool:
        return self._before.learned.get(stack) != self._after.learned.get(stack)

    def _may_matter(self, facts: Fingerprint, model: str, inquiry: Inquiry) -> bool:
        spec = next(one for one in self._after.models if one.name == model)

        def holds(condition: Condition | None, scope: Scope) -> bool:
            return condition is None or scope is not Scope.DEVICE or inquiry.ask(condition, scope, spec).holds is True

        return any(holds(d.condition, d.scope) for d in self._changed.denies_of(facts, model)) or any(
            holds(r.condition, r.scope) for r in self._changed.rules if r.rule.concerns(model)
        )


def _everybody(before: Basis, after: Basis) -> bool:
    """Whether something differs that no condition narrows, or the order of rules that both have."""
    old, new = before.document, after.document
    if old is None or new is None or before.models != after.models:
        return True
    return _rest(old) != _rest(new) or _common(old.rules, new.rules) != _common(new.rules, old.rules)


def _rest(document: PolicyDocument) -> str:
    return document.model_dump_json(exclude=_ASKED_APART)


def _common(one: Sequence[Stated], other: Sequence[Stated]) -> list[str]:
    known = set(_told(other))
    return [text for text in _told(one) if text in known]


def _in_one(old: Sequence[S], new: Sequence[S]) -> list[S]:
    return [*_missing(old, new), *_missing(new, old)]


def _missing(one: Sequence[S], other: Sequence[S]) -> list[S]:
    known = set(_told(other))
    return [stated for stated in one if stated.model_dump_json() not in known]


def _told(stated: Iterable[Stated]) -> list[str]:
    return [one.model_dump_json() for one in stated]
