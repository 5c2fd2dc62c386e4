"""What one device class has measured, arm by arm, over all days that are rolled up."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Date, Float, Select, column, text
from sqlalchemy import Text as TextType
from sqlalchemy import select as sa_select
from sqlalchemy.types import BigInteger

# By way of the days: the key of the rollups begins with the day, and a class has few rows of each.
_BY_ARM: Final = text(
    """
    SELECT app, model, arm, sum(windows)::bigint AS windows, sum(runs)::bigint AS runs,
           (SELECT p50_us / 1000 FROM cohort_median m WHERE m.device_class = :device_class AND m.app = r.app
                AND m.model = r.model AND m.arm = r.arm) AS median_ms,
           sum(delegated_share_sum) / nullif(sum(delegated_windows), 0) AS delegated_share,
           sum(on_cpu)::bigint AS on_cpu, sum(failed)::bigint AS failed, sum(timed_out)::bigint AS timed_out,
           sum(golden_checked)::bigint AS golden_checked, sum(golden_failed)::bigint AS golden_failed,
           sum(attempts)::bigint AS attempts, sum(crashed)::bigint AS crashed,
           min(r.day) AS first_day, max(r.day) AS last_day
    FROM rolled_day d JOIN observation_rollup r ON r.day = d.day AND r.device_class = :device_class
    GROUP BY app, model, arm
    """
)
_COLUMNS: Final = {
    "app": TextType, "model": TextType, "arm": TextType, "windows": BigInteger, "runs": BigInteger, "median_ms": Float,
    "delegated_share": Float, "on_cpu": BigInteger, "failed": BigInteger, "timed_out": BigInteger,
    "golden_checked": BigInteger, "golden_failed": BigInteger, "attempts": BigInteger, "crashed": BigInteger,
    "first_day": Date, "last_day": Date,
}  # fmt: skip


def by_arm(device_class: str) -> Select[Any]:
    """A query of a row an arm, the most windows first."""
    columns: list[Any] = [column(name, kind) for name, kind in _COLUMNS.items()]
    found = _BY_ARM.bindparams(device_class=device_class).columns(*columns).subquery("measured")
    order = found.c.windows.desc(), found.c.app, found.c.model, found.c.arm
    return sa_select(found).order_by(*order)
