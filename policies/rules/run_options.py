"""The settings of a document, asked about a model's arms: what each is run with beside what it has by itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from policies.arm import Arm
from policies.model import ModelSpec
from policies.rules.inquiry import Inquiry
from policies.rules.standing import ReadySettings


@dataclass(frozen=True, slots=True)
class Applied:
    """`options` by arm id, the ids of what changed any, and what was unknown of those that could not be told."""

    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    ids: tuple[str, ...] = ()
    unknown: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


NOTHING_APPLIED: Final = Applied()


def applied(settings: Sequence[ReadySettings], arms: Iterable[Arm], model: ModelSpec, inquiry: Inquiry) -> Applied:
    """What holds for each arm; arm after arm, because turning to another is what costs."""
    concerned = [ready for ready in settings if not ready.stated.models or model.name in ready.stated.models]
    if not concerned:
        return NOTHING_APPLIED
    options: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    ids: dict[str, None] = {}
    unknown: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for arm in arms:
        for ready in concerned:
            if not ready.arms.match(arm.id):
                continue
            answer = inquiry.ask(ready.condition, ready.scope, model, arm)
            if answer.holds:
                options[arm.id] |= ready.stated.use.stated
                ids[ready.stated.id] = None
            elif answer.holds is None:
                unknown[ready.stated.id] |= dict.fromkeys(answer.unknown)
    return Applied(dict(options), tuple(ids), {name: tuple(facts) for name, facts in unknown.items()})
