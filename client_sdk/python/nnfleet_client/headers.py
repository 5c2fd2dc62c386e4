"""The HTTP headers a client obeys, read without trust: garbage is "not said"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Final

DEFAULT_FRESH_S: Final = 60.0
# A server's slip ("max-age=0", "max-age=31536000", "Retry-After: 999999999") must neither hammer it nor silence a fleet.
LEAST_FRESH_S: Final = 5.0
MOST_FRESH_S: Final = 86_400.0
MOST_RETRY_AFTER_S: Final = 86_400.0
# What is sent back in a header must be what a header may hold, or every later request fails before it is made.
_SENDABLE: Final = re.compile(r"[\x20-\x7e]{1,512}")


def fresh_for_s(headers: Mapping[str, str]) -> float:
    """How long an answer counts as fresh: `Cache-Control: max-age` less the `Age` it spent in caches on its way.

    Bounded to 5 s…1 day; 60 s where nothing is said (RFC 9111 §4.2).
    """
    max_age_s = _max_age_s(headers.get("cache-control", ""))
    if max_age_s is None:
        return DEFAULT_FRESH_S
    age_s = _whole_seconds(headers.get("age", "")) or 0
    return min(MOST_FRESH_S, max(LEAST_FRESH_S, float(max_age_s - age_s)))


def etag(headers: Mapping[str, str]) -> str | None:
    """The ETag to ask with next time; None where there is none, or none that may be sent back."""
    return sendable(headers.get("etag", "").strip())


def sendable(tag: str) -> str | None:
    """The tag, if it is printable ASCII of at most 512 characters."""
    return tag if _SENDABLE.fullmatch(tag) else None


def retry_after_s(headers: Mapping[str, str], now_s: float) -> float | None:
    """The wait a `Retry-After` asks for, in seconds or as a date (RFC 9110 §10.2.3), at most a day; None if unsaid."""
    text = headers.get("retry-after", "").strip()
    wait_s = _whole_seconds(text)
    if wait_s is not None:
        return min(MOST_RETRY_AFTER_S, float(wait_s))
    try:
        until_s = parsedate_to_datetime(text).timestamp()
    except ValueError:
        return None
    return min(MOST_RETRY_AFTER_S, max(0.0, until_s - now_s))


def _max_age_s(cache_control: str) -> int | None:
    directives = (part.strip().lower().partition("=") for part in cache_control.split(","))
    for name, _, value in directives:
        if name in {"no-store", "no-cache"}:
            return 0
        if name == "max-age":
            return _whole_seconds(value.strip('"'))
    return None


def _whole_seconds(text: str) -> int | None:
    text = text.strip()
    # Nine digits are thirty years: more is a slip, and int() of a megabyte of digits is a trap.
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else None
