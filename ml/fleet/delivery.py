"""When and how a record of telemetry arrives: late, twice, or with a wrong clock."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ml.fleet.assumptions import CLOCK_OFF_DAY_SHARE, CLOCK_OFF_HOUR_SHARE, DUPLICATE_SHARE, LATE_DAYS_P95

HOUR_S = 3600.0
DAY_S = 24 * HOUR_S
_LARGEST_DAYS_OFF = 400.0


@dataclass(frozen=True)
class Delivery:
    """`delay_s` from the window to its receipt, whether it is sent twice, `clock_offset_s` of the device."""

    delay_s: float
    duplicate: bool
    clock_offset_s: float


def delivery(rng: np.random.Generator) -> Delivery:
    """Draw one: delays are exponential (assumed shape), clocks are right but for about one in a hundred."""
    delay_s = rng.exponential(LATE_DAYS_P95 * DAY_S / math.log(20))
    return Delivery(float(delay_s), bool(rng.random() < DUPLICATE_SHARE), _clock_offset_s(rng))


def _clock_offset_s(rng: np.random.Generator) -> float:
    draw, size, sign = rng.random(3)
    if draw >= CLOCK_OFF_HOUR_SHARE:
        return 0.0
    days = draw < CLOCK_OFF_DAY_SHARE
    low, high = (DAY_S, _LARGEST_DAYS_OFF * DAY_S) if days else (HOUR_S, DAY_S)
    return float((low + (high - low) * size) * (1 if sign < 0.5 else -1))
