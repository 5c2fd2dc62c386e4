"""Versions by declared scheme, and ranges of them. Compared as numbers: 1.10 is newer than 1.9."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt, ne
from types import MappingProxyType
from typing import Any, Final

Key = tuple[Any, ...]
"""What versions of one scheme are ordered by."""

Scheme = Callable[[str], Key | None]
"""Text → key, or None where the text is no version of the scheme."""

MAX_VERSION_LENGTH: Final = 128
MAX_BOUNDS: Final = 8

_SEMVER: Final = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?"
    r"(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?",
    re.ASCII,
)
_DOTTED: Final = re.compile(r"\d+(?:\.\d+)*", re.ASCII)
_LAST_NUMBER: Final = re.compile(r"\d+(?=\D*$)", re.ASCII)
_OPERATORS: Final = MappingProxyType({"<=": le, ">=": ge, "==": eq, "!=": ne, "<": lt, ">": gt})
_BOUND: Final = re.compile(r"\s*(<=|>=|==|!=|<|>)?\s*(\S+)\s*")


def semver(text: str) -> Key | None:
    """Precedence of Semantic Versioning 2.0, §11; build metadata does not count."""
    found = _SEMVER.fullmatch(text)
    if found is None:
        return None
    major, minor, patch, pre_release = found.groups()
    return int(major), int(minor), int(patch), pre_release is None, _identifiers(pre_release or "")


def _identifiers(pre_release: str) -> Key:
    """Numbers come before words; of two lists that agree, the longer one is the newer."""
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in pre_release.split("."))


def dotted(text: str) -> Key | None:
    """Numbers with dots between them, as many as there are; what is missing is 0, so that 1.2 equals 1.2.0."""
    if not _DOTTED.fullmatch(text):
        return None
    numbers = [int(part) for part in text.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def build(text: str) -> Key | None:
    """The last number in the text: 7463 of `26.20.100.7463`, 15 of `AP3A.240905.015`."""
    found = _LAST_NUMBER.search(text)
    return (int(found.group()),) if found else None


SCHEMES: Final[Mapping[str, Scheme]] = MappingProxyType({"semver": semver, "dotted": dotted, "build": build})


@dataclass(frozen=True, slots=True)
class VersionRange:
    """Bounds that a version has to keep, all of them."""

    scheme: Scheme
    bounds: tuple[tuple[Callable[[Key, Key], bool], Key], ...]

    def holds(self, text: str) -> bool | None:
        """Whether the version is in the range; None where `text` is no version of the scheme."""
        key = self.scheme(text) if len(text) <= MAX_VERSION_LENGTH else None
        return None if key is None else all(compare(key, bound) for compare, bound in self.bounds)


def version_range(scheme: str, text: str) -> VersionRange:
    """The range in `text`: bounds like `>= 1.2`, with commas between them; a bare version is that very one.

    Raises ValueError, with what was expected.
    """
    parts = text.split(",")
    if len(text) > MAX_VERSION_LENGTH or len(parts) > MAX_BOUNDS:
        raise ValueError(f"a range of at most {MAX_BOUNDS} bounds and {MAX_VERSION_LENGTH} characters")
    return VersionRange(SCHEMES[scheme], tuple(_bound(scheme, part) for part in parts))


def _bound(scheme: str, text: str) -> tuple[Callable[[Key, Key], bool], Key]:
    found = _BOUND.fullmatch(text)
    key = SCHEMES[scheme](found.group(2)) if found else None
    if found is None or key is None:
        raise ValueError(f"a {scheme} version with <, <=, >, >=, == or != before it, like {_EXAMPLES[scheme]}")
    return _OPERATORS[found.group(1) or "=="], key


_EXAMPLES: Final = {"semver": '">= 1.2.0, < 2.0.0"', "dotted": '">= 512.530"', "build": '">= 7463"'}
