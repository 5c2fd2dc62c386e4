"""Plain flags of an app: switches beside its models, with rules in the policy language and splits like a plan's."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, WithJsonSchema, field_validator, model_validator

from policies.knowledge import WHOLE_BP
from policies.language import DEVICE_VOCABULARY, Condition, Vocabulary, compile_condition
from policies.model import Slug
from policies.nearest import did_you_mean, nearest
from policies.rules.when import checked
from policies.validation import Stated

FLAG_VOCABULARY: Final = Vocabulary(
    MappingProxyType({root: DEVICE_VOCABULARY.roots[root] for root in ("device", "accelerators", "gpu", "request")})
)
"""What rules of flags may ask: the phone, where the caller names one, and what the caller says of itself."""

MAX_NUMBER: Final = 2**53 - 1
"""The largest whole number that every client can hold: JavaScript's are floats."""

When = Annotated[str, AfterValidator(partial(checked, vocabulary=FLAG_VOCABULARY))]
VariantName = Annotated[str, StringConstraints(min_length=1, max_length=128)]


def _as_stated(value: Any) -> Any:
    """The value as it is: no kind is turned into another, as 1 is into true."""
    if type(value) not in _KINDS:
        raise ValueError("a flag is a boolean, a number, a text, an object or a list")
    if isinstance(value, int | float) and abs(value) > MAX_NUMBER:
        raise ValueError(f"numbers go up to {MAX_NUMBER}")
    return value


def _plain(value: Any) -> Any:
    if _KINDS[type(value)] == "object":
        raise ValueError("metadata are booleans, numbers and texts")
    return value


_KINDS: Final[Mapping[type, str]] = {
    bool: "boolean", int: "integer", float: "float", str: "string", dict: "object", list: "object",
}  # fmt: skip
_PLAIN_TYPES: Final = {"type": ["boolean", "number", "string"]}
Value = Annotated[
    Any, AfterValidator(_as_stated), WithJsonSchema({"type": ["boolean", "number", "string", "object", "array"]})
]
Plain = Annotated[Any, AfterValidator(_as_stated), AfterValidator(_plain), WithJsonSchema(_PLAIN_TYPES)]


class FlagShare(Stated):
    """A variant and who gets it: `weight_bp` of 10,000 units."""

    variant: VariantName
    weight_bp: Annotated[int, Field(ge=0, le=WHOLE_BP)]


class FlagRule(Stated):
    """Where `when` holds, or always without one, everybody gets `variant`, or each unit its share of `split`.

    Shares are drawn like those of a plan: raise only the first one's, and whoever has it keeps it.
    """

    id: Slug
    when: When | None = None
    variant: VariantName | None = None
    split: Annotated[tuple[FlagShare, ...], Field(max_length=64)] = ()

    @model_validator(mode="after")
    def _chooses(self) -> Self:
        if (self.variant is None) == (not self.split):
            raise ValueError("a rule has either a variant or a split")
        if self.split and (total := sum(share.weight_bp for share in self.split)) != WHOLE_BP:
            raise ValueError(f"weights sum to {total}, not to {WHOLE_BP}")
        return self

    @cached_property
    def condition(self) -> Condition | None:
        """The condition, ready to be asked."""
        return compile_condition(self.when, FLAG_VOCABULARY, field="when") if self.when is not None else None

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants that it can give."""
        return (self.variant,) if self.variant is not None else tuple(share.variant for share in self.split)


class Flag(Stated):
    """Named values of one kind, rules in order, and what holds where no rule does.

    Without a `default_variant` the client keeps the default in its code, as it does while the flag is `disabled`.
    """

    variants: Annotated[dict[VariantName, Value], Field(min_length=1, max_length=256)]
    default_variant: VariantName | None = None
    rules: Annotated[tuple[FlagRule, ...], Field(max_length=256)] = ()
    disabled: bool = False
    metadata: Annotated[dict[VariantName, Plain], Field(max_length=64)] = Field(default_factory=dict)
    description: Annotated[str, Field(max_length=500)] = ""

    @field_validator("variants")
    @classmethod
    def _one_kind(cls, variants: dict[str, Value]) -> dict[str, Value]:
        """A flag is of one kind; whole numbers beside others are numbers like them."""
        kinds = {_KINDS[type(value)] for value in variants.values()}
        if kinds == {"integer", "float"}:
            return {name: float(value) for name, value in variants.items()}
        if len(kinds) > 1:
            raise ValueError(f"variants are of several kinds: {', '.join(sorted(kinds))}")
        return variants

    @model_validator(mode="after")
    def _variants_exist(self) -> Self:
        default = () if self.default_variant is None else (self.default_variant,)
        for name in (*default, *(name for rule in self.rules for name in rule.variants)):
            if name not in self.variants:
                raise ValueError(f"no variant {name!r}{did_you_mean(nearest(name, self.variants))}")
        return self


class FlagDocument(Stated):
    """The plain flags of one app, by key."""

    schema_: Annotated[Literal[1], Field(alias="schema")] = 1
    app: Slug
    flags: Annotated[dict[Slug, Flag], Field(max_length=1_000)] = Field(default_factory=dict)
