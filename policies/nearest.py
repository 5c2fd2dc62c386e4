"""The known name that a misspelt one resembles."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(written: str, known: Iterable[str]) -> str | None:
    """The known name that the written one resembles most, whatever the case; None where none is close."""
    names = {name.lower(): name for name in known}
    found = get_close_matches(written[:128].lower(), names, n=1, cutoff=0.6)
    return names[found[0]] if found else None


def did_you_mean(close: str | None) -> str:
    """The end of a sentence about an unknown name."""
    return f"; did you mean `{close}`?" if close else ""
