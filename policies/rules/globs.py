"""Globs over arm ids, compiled once: `int8.*.nnapi.*`, `*.gpu`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import translate
from functools import lru_cache
from typing import Annotated

from pydantic import Field, StringConstraints

Glob = Annotated[str, StringConstraints(min_length=1, max_length=256)]
Globs = Annotated[tuple[Glob, ...], Field(min_length=1, max_length=256)]


@lru_cache(maxsize=16_384)
def compiled(globs: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern that matches what any of the globs does. Python translates globs so that they match in linear time."""
    return re.compile("|".join(translate(glob) for glob in globs))


def matching(globs: tuple[str, ...], names: Iterable[str]) -> list[str]:
    """The names that any of the globs matches, in their order."""
    pattern = compiled(globs)
    return [name for name in names if pattern.match(name)]
