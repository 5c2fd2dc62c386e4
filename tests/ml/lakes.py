"""Lakes for tests, with what a real one may hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from service.jobs.lake import KINDS

FIRST: Final = date(2026, 5, 1)
_SCHEMA: Final = next(kind.schema for kind in KINDS if kind.name == "observations")


def row(number: int, **changes: Any) -> dict[str, Any]:
    """An observation as the lake holds it; what is not named is null."""
    kept = {
        "record_id": f"00000000-0000-7000-8000-{number:012d}", "kind": "window", "device_class": "one", "app": "camera",
        "model": "segmentation", "arm": "int8.tflite.cpu", "workload": "burst", "run_count": 3, "timeouts": 0,
        "errors": "{}", "latency_p50_us": 4000.0, "histogram": [{"bucket": 418, "count": 3}],
    }  # fmt: skip
    return kept | changes


def write_lake(folder: Path, days: Sequence[Sequence[Mapping[str, Any]]]) -> None:
    """Files of so many days, the first of them `FIRST`; rows were received at noon of their day."""
    for number, rows in enumerate(days):
        day = FIRST + timedelta(days=number)
        noon = {"received_at": datetime(day.year, day.month, day.day, 12, tzinfo=UTC)}
        place = folder / "observations" / f"day={day}"
        place.mkdir(parents=True)
        held = [{name: (noon | dict(row)).get(name) for name in _SCHEMA.names} for row in rows]
        pq.write_table(pa.Table.from_pylist(held, _SCHEMA), place / "part.parquet")


def strange_lake(folder: Path) -> None:
    """Nulls, an empty day, a window that comes days after its start, buckets below zero, names of any script."""
    start = "00000000-0000-7000-8000-000000000900"
    strange = {"model": "видео", "device_class": "级-é"}
    write_lake(
        folder,
        [
            [
                *(row(n, run_count=n + 1, latency_p50_us=1000.0 * 1.5**n, load_us=900 + n, memory_peak_kb=60_000 * n) for n in range(7)),
                row(20, **strange, histogram=[{"bucket": -3, "count": 2}, {"bucket": 0, "count": 1}], latency_p50_us=0.01),
                row(21, **strange, histogram=[], workload=None, run_count=0, latency_p50_us=None, timeouts=2),
                row(22, histogram=None, run_count=None, errors=None, timeouts=None, latency_p50_us=None),
                row(23, set_aside="golden-impossible"),
                row(24, set_aside="negative-latency", golden_checks=2, golden_passed=1, run_count=None, histogram=None),
                row(900, record_id=start, kind="attempt", histogram=None, run_count=None),
                row(901, kind="attempt", histogram=None, run_count=None, workload=None),
                row(902, kind="attempt", device_class="never-seen", histogram=None, run_count=None),
            ],
            [],
            [
                row(903, kind="attempt", histogram=None, run_count=None),
                row(30, thermal_after=3, delegated_nodes=2, total_nodes=3, partitions=4, executed_by="TfLiteXNNPackDelegate"),
                row(31, delegated_nodes=0, total_nodes=0, executed_by=None, cache_hit=True, compile_us=45_000, load_us=7),
                row(32, run_count=2**31 - 1, histogram=[{"bucket": 9_999, "count": 2**40}, {"bucket": 1, "count": 0}]),
                row(33, golden_checks=3, golden_passed=2, golden_max_rel_error=0.25, compile_us=45_001),
                row(34, golden_checks=3, golden_passed=3, golden_max_rel_error=0.0, compile_us=1, cache_hit=False),
                row(35, attempt_id=start, errors='{"DEAD_OBJECT": 1}', run_count=0, histogram=None, latency_p50_us=None),
            ],
        ],
    )  # fmt: skip
