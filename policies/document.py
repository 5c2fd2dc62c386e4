"""PolicyDocument: what an operator states for one app. A typo is refused, with the field it stands in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import date
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from policies.model import Slug
from policies.rules.deny import Deny
from policies.rules.rule import StatedRule
from policies.rules.settings import StatedSettings
from policies.rules.standing import Standing
from policies.validation import Stated, validated

Share = Annotated[float, Field(ge=0, le=1)]
WeightBp = Annotated[int, Field(ge=0, le=10_000)]


class Thresholds(Stated):
    """Limits of the out-of-the-box rule: shares of operations delegated, and of a run spent on cuts."""

    lead_coverage: Share = 0.95
    cpu_coverage: Share = 0.70
    cut_cost_share: Share = 0.05
    cut_cost_ms: Annotated[float, Field(ge=0, le=1000)] = 0.3

    @model_validator(mode="after")
    def _in_order(self) -> Thresholds:
        if self.cpu_coverage > self.lead_coverage:
            raise ValueError("cpu_coverage must not exceed lead_coverage")
        return self


class TelemetryTerms(Stated):
    """What devices are asked to report."""

    sample: Share = 1.0
    flush_s: Annotated[int, Field(ge=1, le=604_800)] = 3600


class PolicyDocument(Stated):
    """The policy of one app."""

    schema_: Annotated[Literal[1], Field(alias="schema")] = 1
    app: Slug
    thresholds: Thresholds = Thresholds()
    exploration_bp: WeightBp = 0
    ladder_rungs: Annotated[int, Field(ge=1, le=8)] = 4
    valid_s: Annotated[int, Field(ge=60, le=31_536_000)] = 2_592_000
    telemetry: TelemetryTerms = TelemetryTerms()
    rules: Annotated[tuple[StatedRule, ...], Field(max_length=1_000)] = ()
    denies: Annotated[tuple[Deny, ...], Field(max_length=10_000)] = ()
    settings: Annotated[tuple[StatedSettings, ...], Field(max_length=1_000)] = ()

    @model_validator(mode="after")
    def _ids_apart(self) -> Self:
        _apart("denies", (deny.id for deny in self.denies))
        _apart("rules", (rule.id for rule in self.rules))
        _apart("settings", (stated.id for stated in self.settings))
        return self

    def __copy__(self) -> Self:
        copied = super().__copy__()
        copied.__dict__.pop("standing", None)  # a copy may state other rules
        return copied

    @cached_property
    def standing(self) -> Standing:
        """Rules, denies and settings, ready to be asked about many devices."""
        return Standing(self.denies, self.rules, self.settings)

    def in_force(self, today: date) -> PolicyDocument:
        """The document without what ended before today: `until` is the last day that a rule, deny or setting holds."""
        denies = tuple(deny for deny in self.denies if deny.until is None or today <= deny.until)
        rules = tuple(rule for rule in self.rules if rule.until is None or today <= rule.until)
        settings = tuple(stated for stated in self.settings if stated.until is None or today <= stated.until)
        return self.model_copy(update={"denies": denies, "rules": rules, "settings": settings})


def _apart(what: str, ids: Iterable[str]) -> None:
    twice = [name for name, count in Counter(ids).items() if count > 1]
    if twice:
        raise ValueError(f"two {what} have one id: {twice[0]}")


def parse_document(raw: Any) -> PolicyDocument:
    """The document in a JSON value; raises InvalidField for the first thing wrong."""
    return validated(PolicyDocument, raw)
