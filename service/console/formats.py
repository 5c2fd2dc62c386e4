"""How the console writes numbers and times: thousands separated, units named, times with their zone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from markupsafe import Markup

MISSING: Final = "–"
_SPACE: Final = "\u00a0"  # a number and its unit stay on one line


def thousands(number: float | None) -> str:
    """12345 → "12,345"."""
    return MISSING if number is None else f"{number:,.0f}"


def share(part: float | None) -> str:
    """0.1234 → "12.3%"; what is neither nothing nor all never reads as 0% or 100%."""
    if part is None:
        return MISSING
    text = f"{part:.1%}"
    if text == "0.0%":
        return "<0.1%" if part > 0 else "0%"
    if text == "100.0%":
        return ">99.9%" if part < 1 else "100%"
    return text


def factor(ratio: float | None) -> str:
    """1.1234 → "1.12×"."""
    return MISSING if ratio is None else f"{ratio:.2f}×"


def milliseconds(time_ms: float | None) -> str:
    """Three digits that matter: "0.845 ms", "42.1 ms", "1.23 s"."""
    if time_ms is None:
        return MISSING
    if time_ms >= 1000:
        return f"{_three_digits(time_ms / 1000)}{_SPACE}s"
    return f"{_three_digits(time_ms)}{_SPACE}ms"


def _three_digits(number: float) -> str:
    decimals = 3 if number < 1 else 2 if number < 10 else 1 if number < 100 else 0
    return f"{number:,.{decimals}f}"


def file_size(size_bytes: int | None) -> str:
    """1362080 → "1.36 MB", in powers of 1,000."""
    if size_bytes is None:
        return MISSING
    size: float = size_bytes
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g}{_SPACE}{unit}"
        size /= 1000
    return f"{size:,.3g}{_SPACE}TB"


def moment(at: datetime | None) -> Markup:
    """A `<time>` in UTC, with the zone in the text."""
    if at is None:
        return Markup("–")
    utc = at.astimezone(UTC)
    text = f"{utc.day}{_SPACE}{utc:%b}{_SPACE}{utc:%Y}, {utc:%H:%M}{_SPACE}UTC"
    return Markup('<time datetime="{}">{}</time>').format(utc.isoformat(timespec="seconds"), text)


def figure(value: Any) -> str:
    """A value of unknown kind from a learning run's figures: numbers shortened, texts as they are."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return MISSING if value is None else str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3g}"


def words(code: str) -> str:
    """A stable code as a reader's words: "driver-switched-off" → "driver switched off"."""
    return code.replace("-", " ").replace("_", " ")


FILTERS: Final[dict[str, Callable[..., Any]]] = {
    "thousands": thousands,
    "share": share,
    "factor": factor,
    "milliseconds": milliseconds,
    "file_size": file_size,
    "moment": moment,
    "figure": figure,
    "words": words,
}
"""Names in templates."""
