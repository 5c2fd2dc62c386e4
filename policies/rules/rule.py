"""Rules: a condition and what chooses where it holds. The first of a document that holds, and can choose, does."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import Discriminator, Field, Tag, field_validator

from policies.knowledge import WHOLE_BP
from policies.model import Slug
from policies.rules.globs import Globs
from policies.rules.when import When
from policies.situation import Situation
from policies.validation import Stated

MAX_SPLITS: Final = 16
HandOver = Literal["learned", "out-of-the-box"]


class UseLadder(Stated):
    """One ladder for all: each glob stands for the best arm that it names; the CPU comes last by itself."""

    ladder: Globs


class StatedSplit(Stated):
    """A ladder and who gets it: `weight_bp` of 10,000 units."""

    weight_bp: Annotated[int, Field(ge=0, le=WHOLE_BP)]
    ladder: Globs
    explore: bool = False


class UseSplit(Stated):
    """Ladders with shares. Raise only the first one's: then whoever has it keeps it."""

    split: Annotated[tuple[StatedSplit, ...], Field(min_length=1, max_length=MAX_SPLITS)]

    @field_validator("split")
    @classmethod
    def _whole(cls, split: tuple[StatedSplit, ...]) -> tuple[StatedSplit, ...]:
        if (total := sum(part.weight_bp for part in split)) != WHOLE_BP:
            raise ValueError(f"weights sum to {total}, not to {WHOLE_BP}")
        return split


def _shape(raw: Any) -> str | None:
    """What is meant, by the one key that tells it; None where nothing is."""
    if isinstance(raw, UseLadder | UseSplit):
        return "split" if isinstance(raw, UseSplit) else "ladder"
    if isinstance(raw, Mapping):
        return "split" if "split" in raw else "ladder"
    return "hand-over" if raw in get_args(HandOver) else None


Use = Annotated[
    Annotated[HandOver, Tag("hand-over")] | Annotated[UseLadder, Tag("ladder")] | Annotated[UseSplit, Tag("split")],
    Discriminator(
        _shape,
        custom_error_type="unknown-use",
        custom_error_message="expected {expected}",
        custom_error_context={"expected": "'learned', 'out-of-the-box', {ladder: …} or {split: …}"},
    ),
]
"""What chooses: a stated ladder or split, the learned ranking, or the out-of-the-box rule."""


class StatedRule(Stated):
    """`when` it holds, `use` chooses, for the models named or for all; `until` is the last day, in UTC.

    A condition that names an arm, its variant or its coverage is asked for each arm: the rule holds where it does for
    one, and what it states is then made of the arms that it holds for.

    A `situation` is not asked here: the phone gets a plan for it, and takes that while it holds.
    """

    id: Slug
    when: When
    use: Use
    situation: Situation | None = None
    models: tuple[Slug, ...] = ()
    description: Annotated[str, Field(max_length=500)] = ""
    until: date | None = None

    def concerns(self, model: str) -> bool:
        """Whether it is a rule for this model."""
        return not self.models or model in self.models

    def applies(self, situation: Situation | None) -> bool:
        """Whether it is a rule for that situation; None stands for a moment of which nothing is known."""
        if self.situation is None:
            return True
        return situation is not None and self.situation.follows_from(situation)
