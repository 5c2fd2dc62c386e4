"""The lake: observations and rollups as Parquet, one folder a day, in any place that fsspec reaches.

`observations/day=2026-05-01/part.parquet` holds what was received on that day, records that were set aside too, with
their reason. `rollups/day=2026-05-01/part.parquet` holds the day's rollup. Histograms are lists of (bucket, count).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final
from uuid import uuid4

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy import ARRAY, JSON, Connection, Engine, Uuid, text

from service.jobs.run import Steps
from service.store import tables
from service.store.rollups import SETTLING_DAYS

ROWS_A_GROUP: Final = 50_000
_HISTOGRAM: Final = pa.list_(pa.struct([("bucket", pa.int32()), ("count", pa.int64())]))
_ARROW: Final = {
    "BIGINT": pa.int64(), "BLOB": pa.binary(), "BOOLEAN": pa.bool_(), "DATETIME": pa.timestamp("us", "UTC"),
    "FLOAT": pa.float64(), "INTEGER": pa.int32(), "JSONB": pa.string(), "CHAR(32)": pa.string(), "VARCHAR": pa.string(),
}  # fmt: skip
_LEFT_OUT: Final = {"day", "set_aside_payload"}
"""The day is in the folder's name; bytes that nobody believes stay in the database."""
_DAYS: Final = text("SELECT day, settled FROM rolled_day WHERE day < :today ORDER BY day")


@dataclass(frozen=True, slots=True)
class Kind:
    """One table of the lake: where its rows come from, and its histograms as (name, buckets, counts)."""

    name: str
    table: str
    where: str
    histograms: tuple[tuple[str, str, str], ...]

    @property
    def plain(self) -> dict[str, pa.DataType]:
        """Columns that go as they are, with their types."""
        columns = tables.metadata.tables[self.table].columns
        return {
            c.name: _ARROW[str(c.type)] for c in columns if c.name not in _LEFT_OUT and not isinstance(c.type, ARRAY)
        }

    @property
    def schema(self) -> pa.Schema:
        """The columns of the Parquet file."""
        return pa.schema([*self.plain.items(), *((name, _HISTOGRAM) for name, _, _ in self.histograms)])

    @property
    def query(self) -> str:
        """The rows of a day; ids and JSON as text."""
        columns = tables.metadata.tables[self.table].columns
        told = [
            f"{name}::text AS {name}" if isinstance(columns[name].type, Uuid | JSON) else f'"{name}"'
            for name in self.plain
        ]
        told += [column for _, *pair in self.histograms for column in pair]
        return f'SELECT {", ".join(told)} FROM "{self.table}" WHERE {self.where}'  # noqa: S608 -- names of our tables

    def batch(self, rows: Sequence[Any]) -> pa.RecordBatch:
        """Rows of the database as Arrow."""
        columns = [pa.array([row[name] for row in rows], kind) for name, kind in self.plain.items()]
        for _, buckets, counts in self.histograms:
            columns.append(pa.array([_pairs(row[buckets], row[counts]) for row in rows], _HISTOGRAM))
        return pa.record_batch(columns, schema=self.schema)


KINDS: Final = (
    Kind(
        "observations",
        "observation",
        "received_at >= :start AND received_at < :upto",
        (("histogram", "histogram_buckets", "histogram_counts"),),
    ),
    Kind(
        "rollups",
        "observation_rollup",
        "day = :day",
        (("latency", "latency_buckets", "latency_counts"), ("p50", "p50_buckets", "p50_counts")),
    ),
)


def export(engine: Engine, lake_url: str, now: datetime) -> Steps:
    """Write the days that are over and rolled up; a day that was settled when it was written stays as it is.

    A file comes to its name whole or not at all. Raises OSError where the lake cannot be written.
    """
    files, root = fsspec.core.url_to_fs(lake_url)
    with engine.connect() as connection:
        rolled = connection.execute(_DAYS, {"today": now.astimezone(UTC).date()}).all()
    # A settled day is written once more after it settled: what was written before may lack what came late.
    fresh = now.astimezone(UTC).date() - timedelta(days=SETTLING_DAYS + 3)
    todo = [row.day for row in rolled if row.day >= fresh or not files.exists(_place(root, KINDS[-1], row.day))]
    total = 0
    for number, day in enumerate(todo, start=1):
        with engine.connect().execution_options(stream_results=True, max_row_buffer=ROWS_A_GROUP) as connection:
            rows = [_write(connection, files, root, kind, day) for kind in KINDS]
        total += rows[0]
        yield number / len(todo), f"{day}: {rows[0]:,} observations, {rows[1]:,} rollups"
    return {"days": len(todo), "observations": total}


def _write(connection: Connection, files: Any, root: str, kind: Kind, day: date) -> int:
    start = datetime.combine(day, time(), UTC)
    bounds = {"day": day, "start": start, "upto": start + timedelta(days=1)}
    wanted = {name: value for name, value in bounds.items() if f":{name}" in kind.where}
    place = _place(root, kind, day)
    # Hidden from readers, who take *.parquet, until it is whole; an object store puts it there at once.
    hidden = f"{place}.{uuid4().hex}"
    files.makedirs(place.rpartition("/")[0], exist_ok=True)
    rows = 0
    with files.open(hidden, "wb") as file, pq.ParquetWriter(file, kind.schema, compression="zstd") as writer:
        for part in connection.execute(text(kind.query), wanted).mappings().partitions(ROWS_A_GROUP):
            writer.write_batch(kind.batch(part))
            rows += len(part)
    files.mv(hidden, place)
    return rows


def _place(root: str, kind: Kind, day: date) -> str:
    return f"{root.rstrip('/')}/{kind.name}/day={day.isoformat()}/part.parquet"


def _pairs(buckets: Sequence[int] | None, counts: Sequence[int] | None) -> list[dict[str, int]] | None:
    if buckets is None or counts is None:
        return None
    return [{"bucket": bucket, "count": count} for bucket, count in zip(buckets, counts, strict=True)]
