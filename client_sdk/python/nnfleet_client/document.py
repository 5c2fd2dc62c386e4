"""The decision document, parsed once at the edge: bytes → typed, frozen values, or a code that says why not."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final, TypeVar
from weakref import WeakValueDictionary

SCHEMA: Final = 1
FULL_WEIGHT_BP: Final = 10_000
MOST_FLUSH_S: Final = 86_400.0

Arm = Mapping[str, Any]
T = TypeVar("T")


class UnreadableDocument(Exception):
    """Bytes that are no decision document of ours; `code` says which rule they break."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


@dataclass(frozen=True, slots=True)
class Situation:
    """Conditions on this moment and the plan that holds under them."""

    when: Mapping[str, object]
    plan: str


@dataclass(frozen=True, slots=True)
class Split:
    """A share of all units (out of 10,000) and the arm ids they try, in order."""

    weight_bp: int
    ladder: tuple[str, ...]
    explore: bool = False


@dataclass(frozen=True, slots=True)
class PlanShares:
    """The splits of one plan and what assigns them. `hash_name` names the hash; an unknown one assigns nobody."""

    salt: str
    hash_name: str
    splits: tuple[Split, ...]


@dataclass(frozen=True, slots=True)
class ModelDecision:
    """Situations in order, plans by name, arms by id, the golden check's reference, all of one model."""

    situations: tuple[Situation, ...]
    plans: Mapping[str, PlanShares]
    arms: Mapping[str, Arm]
    golden: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, weakref_slot=True)
class DecisionDocument:
    """One release as one device class of one app sees it.

    `telemetry_sample` is the share of sessions to report (0…1), `flush_s` the seconds between two sendings.
    """

    app: str
    release: int
    expires_at_s: float
    models: Mapping[str, ModelDecision]
    telemetry_sample: float
    flush_s: float
    advice: tuple[Any, ...]
    probe: tuple[Any, ...] = ()


# Thousands of simulated phones share a handful of bodies; a document is frozen, so they share the parsed form too, for as
# long as one of them holds it. A phone that runs for months keeps the one that it has.
_HELD: Final[WeakValueDictionary[bytes, DecisionDocument]] = WeakValueDictionary()


def parse_document(body: bytes) -> DecisionDocument:
    """Read a decision document.

    Fields this client does not know are ignored. Raises UnreadableDocument with `unreadable-document` (no JSON,
    fields missing or of another type, weights that do not add up to 10,000, a plan or an arm that is named but
    not there) or `unknown-schema`.
    """
    held = _HELD.get(body)
    if held is None:
        held = _HELD[body] = _read(body)
    return held


def _read(body: bytes) -> DecisionDocument:
    try:
        return _document(json.loads(body, parse_float=_finite, parse_constant=_finite))
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as problem:
        raise UnreadableDocument("unreadable-document", f"{type(problem).__name__}: {problem}") from problem


def _document(raw: Any) -> DecisionDocument:
    if not isinstance(raw, dict):
        raise TypeError("a document is an object")
    if raw["schema"] != SCHEMA:
        raise UnreadableDocument("unknown-schema", f"schema {raw['schema']!r}")
    telemetry = raw.get("telemetry") or {}
    return DecisionDocument(
        app=_typed(raw["app"], str),
        release=_typed(raw["release"], int),
        expires_at_s=instant_s(raw["expires_at"]),
        models=MappingProxyType({name: _model(model) for name, model in _typed(raw["models"], dict).items()}),
        telemetry_sample=min(1.0, max(0.0, float(telemetry.get("sample", 1.0)))),
        flush_s=min(MOST_FLUSH_S, max(1.0, float(telemetry.get("flush_s", 3600)))),
        advice=tuple(raw.get("advice") or ()),
        probe=tuple(raw.get("probe") or ()),
    )


def _model(raw: Any) -> ModelDecision:
    model = ModelDecision(
        situations=tuple(
            Situation(MappingProxyType(_typed(situation["when"], dict)), _typed(situation["plan"], str))
            for situation in raw["situations"]
        ),
        plans=MappingProxyType({name: _plan(plan) for name, plan in _typed(raw["plans"], dict).items()}),
        arms=MappingProxyType({arm_id: _arm(arm) for arm_id, arm in _typed(raw["arms"], dict).items()}),
        golden=_golden(raw.get("golden")),
    )
    _refuse_dangling_names(model)
    return model


def _plan(raw: Any) -> PlanShares:
    splits = tuple(_split(split) for split in raw["splits"])
    if sum(split.weight_bp for split in splits) != FULL_WEIGHT_BP:
        raise ValueError("the weights of a plan do not add up to 10,000")
    return PlanShares(_typed(raw["salt"], str), _typed(raw["hash"], str), splits)


def _split(raw: Any) -> Split:
    weight_bp = _typed(raw["weight"], int)
    ladder = tuple(_typed(arm_id, str) for arm_id in _typed(raw["ladder"], list))
    if weight_bp < 0 or not ladder:
        raise ValueError("a split has a negative weight or an empty ladder")
    return Split(weight_bp, ladder, raw.get("explore") is True)


def _arm(raw: Any) -> Arm:
    return MappingProxyType(_typed(raw, dict))


def _golden(raw: Any) -> Mapping[str, Any] | None:
    return None if raw is None else MappingProxyType(_typed(raw, dict))


def _refuse_dangling_names(model: ModelDecision) -> None:
    lost_plans = {situation.plan for situation in model.situations} - set(model.plans)
    arm_ids = {arm_id for plan in model.plans.values() for split in plan.splits for arm_id in split.ladder}
    lost_arms = arm_ids - set(model.arms)
    if lost_plans or lost_arms:
        raise ValueError(f"named but not there: {sorted(lost_plans | lost_arms)}")


def _finite(text: str) -> float:
    # Python reads NaN, Infinity and 1e999, which are no JSON, or no number to anybody else.
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is no number")
    return value


def _typed(value: Any, kind: type[T]) -> T:
    # bool is an int to Python and never to us.
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(f"{kind.__name__} expected, {type(value).__name__} found")
    return value


def instant_s(text: Any) -> float:
    """An RFC 3339 time as seconds since 1970. Raises TypeError or ValueError for anything else, a missing zone too."""
    instant = datetime.fromisoformat(_typed(text, str))
    if instant.tzinfo is None:
        raise ValueError("a time without a zone")
    return instant.astimezone(UTC).timestamp()
