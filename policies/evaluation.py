"""Answers in OpenFeature's words: a value, its variant, and the reason. A model is a flag whose value is an arm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from policies.errors import TargetingKeyMissing
from policies.explaining.explain import Explanation
from policies.explaining.explanation_json import chosen_json
from policies.plans import Plan
from policies.wire import plan_name


class Reason(StrEnum):
    """Why a flag has its value, as OpenFeature's types name it."""

    STATIC = "STATIC"
    DEFAULT = "DEFAULT"
    TARGETING_MATCH = "TARGETING_MATCH"
    SPLIT = "SPLIT"
    DISABLED = "DISABLED"


Metadata = Mapping[str, str | int | float | bool]
NO_VARIANT: Final = ""
"""Clients read the variant without asking whether it is there."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """One flag. Without a `value` the client keeps the default in its code. `metadata` holds plain values only."""

    key: str
    variant: str
    reason: Reason
    value: Any = None
    metadata: Metadata = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The flag as OFREP writes it."""
        stated = {"key": self.key, "variant": self.variant, "reason": self.reason, "metadata": dict(self.metadata)}
        return stated if self.value is None else stated | {"value": self.value}


def flag_key(app: str, model: str) -> str:
    """The key of a model's flag. Both names may hold dots: only known names tell where one ends."""
    return f"{app}.{model}"


def evaluate_model(made: Explanation, release: int) -> Evaluated:
    """The arm that the unit starts with; raises TargetingKeyMissing where a draw needs a unit and none is named."""
    key = flag_key(made.model.app, made.model.name)
    if made.plan is None:
        return Evaluated(key, NO_VARIANT, Reason.DISABLED, metadata={"release": release})
    if made.chosen is None:
        raise TargetingKeyMissing(f"flag {key} is split: name a unit as targetingKey", field="targetingKey")
    return Evaluated(
        key,
        made.keys[0],
        Reason.SPLIT if len(made.splits) > 1 else Reason.TARGETING_MATCH,
        {**(chosen_json(made) or {}), "ladder": list(made.keys)},
        _metadata(made, made.plan, release),
    )


def _metadata(made: Explanation, plan: Plan, release: int) -> Metadata:
    told: dict[str, str | int | float | None] = {
        "release": release,
        "plan": made.trial.plan if made.trial else plan_name(made.decided, plan),
        "side": made.trial.side if made.trial else None,
        "rule": plan.rule.value,
        "bucket": made.bucket,
        "propensity": made.propensity,
    }
    return {name: value for name, value in told.items() if value is not None}
