"""A window against what its cohort has measured: wrong by a thousand, or too good to be true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MIN_WINDOWS: Final = 30
"""Fewer windows vouch for nothing: a handful of fake phones must not be able to set honest ones aside."""
TOO_GOOD: Final = 20.0
"""Nothing that is right speeds an arm up twentyfold from one day to the next, nor beats the best other arm by that."""
TOO_GOOD_REASON: Final = "too-good-to-be-true"
UNIT_RATIO: Final = (500.0, 2_000.0)
"""A thousand, give or take what phones of one class differ by: milliseconds for microseconds, or the reverse."""


@dataclass(frozen=True, slots=True)
class Expected:
    """Medians (µs) that a device class has measured of a model: of this arm, and of its fastest arm; None for unknown."""

    arm_p50_us: float | None = None
    fastest_p50_us: float | None = None


def cohort_reason(p50_us: float, expected: Expected, *, checked: bool) -> str | None:
    """The reason to set a window with this median aside, or None. `checked`: its golden check passed.

    A passed check vouches for an arm that nobody has measured, however fast it is; it does not vouch against the
    measurements of the arm itself.
    """
    if expected.arm_p50_us is not None:
        return _against_its_own(p50_us / expected.arm_p50_us)
    if expected.fastest_p50_us is not None and not checked and p50_us * TOO_GOOD < expected.fastest_p50_us:
        return TOO_GOOD_REASON
    return None


def _against_its_own(ratio: float) -> str | None:
    low, high = UNIT_RATIO
    if low <= ratio <= high or low <= 1 / ratio <= high:
        return "unit-suspect"
    return TOO_GOOD_REASON if ratio * TOO_GOOD < 1 else None
