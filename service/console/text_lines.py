"""A text with what is wrong in it beside its lines: the wrong ones, numbered, with a few around each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from typing import Final

from policies.errors import InvalidInput

AROUND: Final = 2
MOST_FAULTS: Final = 50
MOST_LINE: Final = 400
MOST_DIFF: Final = 2_000


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a text; `faults` are those that stand in it."""

    number: int
    text: str
    faults: tuple[InvalidInput, ...]


def around(text: str, faults: Sequence[InvalidInput]) -> list[Line | None]:
    """The lines with faults and those next to them; None stands for a gap. Faults without a line stand in none."""
    lines = text.split("\n")
    wrong = {fault.line for fault in faults[:MOST_FAULTS] if fault.line is not None}
    shown = sorted({n for at in wrong for n in range(at - AROUND, at + AROUND + 1) if 1 <= n <= max(len(lines), at)})
    found: list[Line | None] = []
    for number in shown:
        if found and (last := found[-1]) is not None and last.number != number - 1:
            found.append(None)
        written = lines[number - 1][:MOST_LINE] if number <= len(lines) else ""
        found.append(Line(number, written, tuple(f for f in faults[:MOST_FAULTS] if f.line == number)))
    return found


@dataclass(frozen=True, slots=True)
class Changed:
    """A line of a diff. `kind`: "added", "removed", "same" or "place"."""

    kind: str
    text: str


_KINDS: Final = {"+": "added", "-": "removed", "@": "place"}


def text_diff(before: str, after: str) -> list[Changed]:
    """What changed between two texts, line by line, with three lines around; at most `MOST_DIFF` lines."""
    return list(_changed(unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=3)))[:MOST_DIFF]


def _changed(lines: Iterable[str]) -> Iterator[Changed]:
    for place, line in enumerate(lines):
        if place >= 2:  # the names of the files
            kind = _KINDS.get(line[:1], "same")
            yield Changed(kind, line if kind == "place" else line[1:])
