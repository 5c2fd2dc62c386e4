"""What a condition was decided by: the facts that it reads, with their values on this device."""

from __future__ import annotations

from typing import Any

from policies.asked import Moment
from policies.facts import device_roots, model_roots
from policies.fingerprint import Fingerprint
from policies.knowledge import Knowledge
from policies.language.context import known
from policies.model import ModelSpec
from policies.rules.when import condition


class DecidingFacts:
    """The facts of one device, model and moment. What differs from arm to arm is left to the verdicts on the arms."""

    def __init__(self, facts: Fingerprint, model: ModelSpec, knowledge: Knowledge, moment: Moment) -> None:
        roots = device_roots(facts) | model_roots(model, knowledge) | {"request": moment.facts}
        self._roots: dict[str, Any] = known(roots)

    def of(self, when: str | None) -> dict[str, Any]:
        """`device.soc` → "tensor-g4", for everything that the condition reads and that is known."""
        if when is None:
            return {}
        read = sorted(condition(when).facts, key=lambda pair: (pair[0], pair[1] or ""))
        found = {f"{root}.{fact}" if fact else root: self._value(root, fact) for root, fact in read}
        return {name: value for name, value in found.items() if value is not None}

    def _value(self, root: str, fact: str | None) -> Any:
        whole = self._roots.get(root)
        if isinstance(whole, list):
            return [{name: value for name, value in item.items() if name.isidentifier()} for item in whole]
        return whole if fact is None or whole is None else whole.get(fact)
