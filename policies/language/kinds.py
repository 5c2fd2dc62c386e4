"""What a fact can be, and the names that conditions know: the types of the policy language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Scalar:
    """A yes or no, a number, a text. `canonical` spells a text as fingerprints do; `words` are all it can be.

    `counted` gives the number that fingerprints hold for one that is written as a vendor counts; None where it is none.
    """

    name: str
    canonical: Callable[[str], str] | None = None
    words: tuple[str, ...] = ()
    counted: Callable[[int], int | None] | None = None


@dataclass(frozen=True, slots=True)
class ListOf:
    """A bounded list: `in`, `exists`, `all` and `exists_one` go over it."""

    item: Kind

    @property
    def name(self) -> str:
        """As messages call it."""
        return f"a list of {self.item.name.removeprefix('a ')}s"


@dataclass(frozen=True, slots=True)
class Record:
    """Named facts. What a phone does not say is left out of the values, never out of the record."""

    name: str
    fields: Mapping[str, Kind]


@dataclass(frozen=True, slots=True)
class Open:
    """What a caller says of itself: any name is taken, and no type is known before it is there."""

    name: str = "anything"


Kind = Scalar | ListOf | Record | Open

YES_NO: Final = Scalar("a yes or no")
INTEGER: Final = Scalar("an integer")
NUMBER: Final = Scalar("a number")
TEXT: Final = Scalar("a text")
OPEN: Final = Open()


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The names a condition may start from. Made once a kind of condition: two vocabularies are never the same one."""

    roots: Mapping[str, Kind]


def words(*taken: str) -> Scalar:
    """A text that is one of these."""
    return Scalar(TEXT.name, words=taken)


def spelled(canonical: Callable[[str], str]) -> Scalar:
    """A text in the spelling that `canonical` gives."""
    return Scalar(TEXT.name, canonical=canonical)


def counted(numbers: Callable[[int], int | None]) -> Scalar:
    """An integer that vendors count otherwise: `numbers` gives ours for theirs."""
    return Scalar(INTEGER.name, counted=numbers)


def is_text(kind: Kind) -> bool:
    """Whether it is a text of any spelling."""
    return isinstance(kind, Open) or kind.name == TEXT.name
