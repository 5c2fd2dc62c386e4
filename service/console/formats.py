"""How the console writes numbers and times: thousands separated, units named, times with their zone."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any, Final

from markupsafe import Markup

from policies.figures import plain
from policies.rollouts.local_time import zone_named

MISSING: Final = "–"
MOST_LOG: Final = 20.0
"""Of a logarithm that is written as a factor: nobody reads more."""
MOST_CHARACTERS: Final = 4_000
SMALLEST_CHANCE: Final = 1e-4
"""Of p values that are told apart."""
_UNITS: Final = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
_SPACE: Final = "\u00a0"  # a number and its unit stay on one line


def thousands(number: float | None) -> str:
    """12345 → "12,345"."""
    return MISSING if number is None else f"{number:,.0f}"


def share(part: float | None) -> str:
    """0.1234 → "12.3%"; what is neither nothing nor all never reads as 0% or 100%."""
    if part is None:
        return MISSING
    text = f"{part:.1%}".replace("-", "−")
    if text == "0.0%":
        return "<0.1%" if part > 0 else "0%"
    if text == "100.0%":
        return ">99.9%" if part < 1 else "100%"
    return text


def factor(ratio: float | None) -> str:
    """1.1234 → "1.12×"."""
    return MISSING if ratio is None else f"{ratio:.2f}×"


def log_change(change: float | None) -> str:
    """A change of a mean logarithm as a part of what it was: −0.0489 → "−4.8%"."""
    return MISSING if change is None else f"{math.expm1(min(change, MOST_LOG)):+.1%}".replace("-", "−")


def log_factor(change: float | None) -> str:
    """The same as a factor, for changes of any size: −1.55 → "0.21×"."""
    return MISSING if change is None else f"{plain(math.exp(min(change, MOST_LOG)), 2)}×"


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
            return f"{plain(size)}{_SPACE}{unit}"
        size /= 1000
    return f"{plain(size)}{_SPACE}TB"


def moment(at: datetime | None) -> Markup:
    """A `<time>` in UTC, with the zone in the text."""
    if at is None:
        return Markup("–")
    utc = at.astimezone(UTC)
    text = f"{utc.day}{_SPACE}{utc:%b}{_SPACE}{utc:%Y}, {utc:%H:%M}{_SPACE}UTC"
    return Markup('<time datetime="{}">{}</time>').format(utc.isoformat(timespec="seconds"), text)


def by_zone(at: datetime | None, zone: str | None) -> Markup:
    """The moment by the clocks of a zone, and in UTC: "1 Dec 2026, 09:00 Europe/Berlin (08:00 UTC)"."""
    if at is None or zone is None:
        return Markup("–")
    local, utc = at.astimezone(zone_named(zone)), at.astimezone(UTC)
    text = f"{local.day}{_SPACE}{local:%b}{_SPACE}{local:%Y}, {local:%H:%M}{_SPACE}{zone}"
    elsewhere = "" if local.date() == utc.date() else f"{utc.day}{_SPACE}{utc:%b}, "
    return Markup('<time datetime="{}">{}</time> <span class="quiet">({}{} UTC)</span>').format(
        utc.isoformat(timespec="seconds"), text, elsewhere, f"{utc:%H:%M}"
    )


def day(of: date | datetime | None) -> str:
    """A UTC day: "1 Mar 2026"."""
    return MISSING if of is None else f"{of.day}{_SPACE}{of:%b}{_SPACE}{of.year}"


def span(time: timedelta | None) -> str:
    """How long, in its two largest units: "3 h 20 min", "45 s", "310 ms"."""
    if time is None:
        return MISSING
    seconds = time.total_seconds()
    if seconds < 1:
        return f"{seconds * 1000:.0f}{_SPACE}ms"
    if seconds < 60:
        return f"{seconds:.2g}{_SPACE}s"
    (name, size), (below, part) = next(units for units in pairwise(_UNITS) if seconds >= units[0][1])
    rest = seconds % size // part
    return f"{seconds // size:,.0f}{_SPACE}{name}" + (f" {rest:.0f}{_SPACE}{below}" if rest else "")


def basis_points(weight_bp: int | None) -> str:
    """500 → "5.0%"."""
    return share(None if weight_bp is None else weight_bp / 10_000)


def percent_of_bp(weight_bp: int) -> str:
    """As a form takes it: 500 → "5"."""
    return f"{weight_bp / 100:g}"


def stated(value: Any) -> str:
    """A JSON value as people read it: texts as they are, parts on lines of their own, the end of what is long left out."""
    if value is None:
        return MISSING
    text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
    left = len(text) - MOST_CHARACTERS
    return text if left <= 0 else f"{text[:MOST_CHARACTERS]}… and {left:,} characters more"


def figure(value: Any) -> str:
    """A value of unknown kind from a learning run's figures: numbers shortened, texts as they are."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return MISSING if value is None else str(value)
    return f"{value:,}" if isinstance(value, int) else plain(value)


def chance(p_value: float | None) -> str:
    """How likely it is under the null: "0.0031"; of what is next to impossible only that."""
    if p_value is None:
        return MISSING
    return f"{p_value:.2g}" if p_value >= SMALLEST_CHANCE else f"<{_SPACE}10⁻⁴"


def null_chance(p_value: float) -> str:
    """The same within a sentence: "p = 0.0031", "p < 10⁻⁴"."""
    equal = f"={_SPACE}" if p_value >= SMALLEST_CHANCE else ""
    return f"p{_SPACE}{equal}{chance(p_value)}"


def words(code: str) -> str:
    """A stable code as a reader's words: "driver-switched-off" → "driver switched off"."""
    return code.replace("-", " ").replace("_", " ")


def chip(soc: str) -> str:
    """The SoC of a finding; a finding of no one SoC is on several."""
    return "several SoCs" if soc == "*" else soc


def pairs(names: Iterable[str]) -> list[tuple[str, str]]:
    """Names as a choice takes them: each its own text."""
    return [(name, name) for name in names]


FILTERS: Final[dict[str, Callable[..., Any]]] = {
    "thousands": thousands,
    "by_zone": by_zone,
    "share": share,
    "factor": factor,
    "log_change": log_change,
    "log_factor": log_factor,
    "milliseconds": milliseconds,
    "file_size": file_size,
    "moment": moment,
    "day": day,
    "span": span,
    "basis_points": basis_points,
    "percent_of_bp": percent_of_bp,
    "stated": stated,
    "figure": figure,
    "chance": chance,
    "null_chance": null_chance,
    "words": words,
    "chip": chip,
    "pairs": pairs,
}
"""Names in templates."""
