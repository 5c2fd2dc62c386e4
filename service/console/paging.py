"""View state in the address: what a page was asked for, and links that keep it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flask import request, url_for

PREFIX: Final = "/console"
"""Where the console's addresses begin."""
MAX_TEXT = 200


def stated(args: Mapping[str, str], name: str) -> str:
    """A text of the query, bounded and without the NUL that PostgreSQL refuses; "" where there is none."""
    return args.get(name, "").replace("\0", "").strip()[:MAX_TEXT]


def stated_number(args: Mapping[str, str], name: str) -> int | None:
    """A whole number of the query, or None where there is none that a column can hold."""
    text = stated(args, name)
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 9 else None


def here(**changes: object) -> str:
    """The address of this page with its state, some of it changed; an empty value drops a part."""
    state = {**request.args.to_dict(), **(request.view_args or {}), **changes}
    kept = {name: value for name, value in state.items() if value not in {"", None}}
    return url_for(request.endpoint or "console.fleet", **kept)


@dataclass(frozen=True, slots=True)
class Window:
    """Which rows of how many are shown. `number` counts pages from 1 and never lies past the last."""

    number: int
    size: int
    total: int

    @classmethod
    def of(cls, number: int | None, size: int, total: int) -> Window:
        """The page asked for, or the nearest there is."""
        last = max(1, -(-total // size))
        return cls(min(max(number or 1, 1), last), size, total)

    @property
    def pages(self) -> int:
        """How many pages there are; one even where nothing is to be seen."""
        return max(1, -(-self.total // self.size))

    @property
    def offset(self) -> int:
        """Rows before the page."""
        return (self.number - 1) * self.size

    @property
    def first(self) -> int:
        """Number of the first row shown, from 1."""
        return min(self.offset + 1, self.total)

    @property
    def last(self) -> int:
        """Number of the last row shown."""
        return min(self.offset + self.size, self.total)

    @property
    def near(self) -> list[int | None]:
        """Page numbers to link: the ends, the neighbours, None for a gap."""
        wanted = sorted({1, self.pages, *range(max(1, self.number - 2), min(self.pages, self.number + 2) + 1)})
        numbers: list[int | None] = []
        for number in wanted:
            if numbers and numbers[-1] != number - 1:
                numbers.append(None)
            numbers.append(number)
        return numbers
