"""Telemetry: bytes → records → verdicts. Bounded before it is inflated; a bad record never sinks its batch."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import MAXYEAR, MINYEAR, datetime
from itertools import takewhile
from typing import Any, ClassVar, Final
from uuid import UUID

import msgspec
import zstandard
from sqlalchemy import Engine
from sqlmodel import Session

from policies.errors import BodyTooLarge, InvalidInput, MalformedJson
from policies.observation import Observation, decode_observation
from policies.screen import clock_skew_s, quantile_us, screen
from service.store import reports, telemetry

MAX_COMPRESSED_BYTES: Final = 1024 * 1024
MAX_INFLATED_BYTES: Final = 16 * 1024 * 1024
MAX_RECORDS: Final = 2_000
_CHUNK: Final = 256 * 1024
_ZSTD_PIECE: Final = 128
"""Compressed bytes taken at a time: four of them can stand for 128 KiB, so that a piece inflates to 4 MiB at most."""


_UNREADABLE: Final = (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What reading JSON of strangers raises; the last of them where it nests thousands of levels deep."""


class UnsupportedEncoding(InvalidInput):
    """A Content-Encoding that is not identity, gzip or zstd."""

    code: ClassVar[str] = "unsupported-encoding"


class MalformedBody(InvalidInput):
    """Bytes that are not what their Content-Encoding says, or that end too early."""

    code: ClassVar[str] = "malformed-body"


class TooManyRecords(InvalidInput):
    """More records than one batch may hold."""

    code: ClassVar[str] = "too-many-records"


@dataclass
class Verdicts:
    """What became of each record of a batch."""

    accepted: int = 0
    duplicate: int = 0
    set_aside: list[dict[str, Any]] = field(default_factory=list)
    rejected: list[dict[str, Any]] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The answer of `POST /v1/telemetry`."""
        return {
            "accepted": self.accepted,
            "duplicate": self.duplicate,
            "set_aside": self.set_aside,
            "rejected": self.rejected,
        }


@dataclass(frozen=True, slots=True)
class _Record:
    index: int
    observation: Observation
    raw: bytes
    digest: bytes


def ingest(engine: Engine, body: bytes, encoding: str, ndjson: bool, received_at: datetime) -> Verdicts:
    """Store a batch; when this returns, what is acknowledged is committed.

    Raises BodyTooLarge, MalformedBody, UnsupportedEncoding, MalformedJson or TooManyRecords for the batch as a whole.
    """
    raws = _records(inflate(body, encoding), ndjson)
    verdicts = Verdicts()
    decoded: dict[UUID, _Record] = {}
    repeats: list[_Record] = []
    for index, raw in enumerate(raws):
        try:
            observation = decode_observation(raw)
        except _UNREADABLE as error:
            verdicts.rejected.append({"index": index, "reason": "invalid-record", "detail": str(error)})
            continue
        record = _Record(index, observation, raw, hashlib.sha256(raw).digest())
        if decoded.setdefault(observation.record_id, record) is not record:
            repeats.append(record)
    with Session(engine) as session, session.begin():
        stored = _store(session, decoded, received_at, verdicts)
    for record in repeats:
        _judge_repeat(verdicts, record, stored.get(record.observation.record_id))
    return verdicts


def _judge_repeat(verdicts: Verdicts, record: _Record, stored_digest: bytes | None) -> None:
    """A repeat within the batch fares as its first: where that was not stored, neither is acknowledged."""
    if stored_digest is None:
        verdicts.rejected.append({"index": record.index, "reason": "unknown-report"})
    else:
        _repeated(verdicts, record.index, same=stored_digest == record.digest)


def _repeated(verdicts: Verdicts, index: int, *, same: bool) -> None:
    if same:
        verdicts.duplicate += 1
    else:
        verdicts.rejected.append({"index": index, "reason": "id-conflict"})


def _store(
    session: Session, decoded: dict[UUID, _Record], received_at: datetime, verdicts: Verdicts
) -> dict[UUID, bytes]:
    """Store what is new; returns the digests of what is stored now under the records' ids."""
    classes = reports.classes_of(session, {record.observation.report_id for record in decoded.values()})
    rows: dict[UUID, dict[str, Any]] = {}
    for record_id, record in decoded.items():
        known = classes.get(record.observation.report_id)
        if known is None:
            verdicts.rejected.append({"index": record.index, "reason": "unknown-report"})
            continue
        device_class, learnable = known
        reason = screen(record.observation, learnable=learnable)
        rows[record_id] = _row(record, device_class, reason, received_at)
    inserted = telemetry.insert_new(session, list(rows.values()))
    stored = telemetry.payload_digests(session, rows.keys() - inserted)
    for record_id, row in rows.items():
        if record_id not in inserted:
            _repeated(verdicts, decoded[record_id].index, same=stored[record_id] == row["payload_sha256"])
        elif row["set_aside"]:
            verdicts.set_aside.append({"record_id": str(record_id), "reason": row["set_aside"]})
        else:
            verdicts.accepted += 1
    return {record_id: row["payload_sha256"] for record_id, row in rows.items()} | stored


# A list would be read to its end before its length is looked at: eight million elements in the 16 MiB of a bomb.
_ARRAY: Final = msgspec.json.Decoder(
    msgspec.defstruct(
        "Batch",
        [(f"record_{index}", msgspec.Raw, msgspec.Raw()) for index in range(MAX_RECORDS)],
        array_like=True,
        forbid_unknown_fields=True,
    )
)


def _records(plain: bytes, ndjson: bool) -> list[bytes]:
    return _lines(plain) if ndjson else _elements(plain)


def _lines(plain: bytes) -> list[bytes]:
    # Counted before they are cut: as many blank lines as records are borne, not sixteen million.
    if plain.count(b"\n") > 2 * MAX_RECORDS:
        raise _too_many()
    lines = [line for line in plain.split(b"\n") if line.strip()]
    if len(lines) > MAX_RECORDS:
        raise _too_many()
    return lines


def _elements(plain: bytes) -> list[bytes]:
    try:
        elements = map(bytes, msgspec.structs.astuple(_ARRAY.decode(plain)))
    except msgspec.ValidationError as error:
        if plain.lstrip().startswith(b"["):  # of an array, nothing but the length is validated here
            raise _too_many() from error
        raise MalformedJson(f"the body is no JSON array: {error}") from error
    except _UNREADABLE as error:
        raise MalformedJson(f"the body is no JSON array: {error}") from error
    return list(takewhile(bool, elements))


def _too_many() -> TooManyRecords:
    return TooManyRecords(f"the batch has over {MAX_RECORDS} records", limit=MAX_RECORDS)


def inflate(body: bytes, encoding: str) -> bytes:
    """The plain bytes; stops as soon as they pass the limit, so that a bomb costs no memory."""
    if len(body) > MAX_COMPRESSED_BYTES:
        raise BodyTooLarge(f"the body has over {MAX_COMPRESSED_BYTES} bytes", limit=MAX_COMPRESSED_BYTES)
    opener = _INFLATERS.get(encoding.strip().lower() or "identity")
    if opener is None:
        raise UnsupportedEncoding(
            f"the encoding {encoding!r} is not taken: identity, gzip or zstd", field="Content-Encoding"
        )
    plain = bytearray()
    for chunk in opener(body):
        plain += chunk
        if len(plain) > MAX_INFLATED_BYTES:
            raise BodyTooLarge(f"the body inflates to over {MAX_INFLATED_BYTES} bytes", limit=MAX_INFLATED_BYTES)
    return bytes(plain)


def _gzip(body: bytes) -> Iterator[bytes]:
    inflater = zlib.decompressobj(wbits=31)
    rest = body
    try:
        while rest and not inflater.eof:
            yield inflater.decompress(rest, _CHUNK)
            rest = inflater.unconsumed_tail
        while not inflater.eof and (chunk := inflater.decompress(b"", _CHUNK)):
            yield chunk
    except zlib.error as error:
        raise MalformedBody(f"the body is not gzip: {error}") from error
    if not inflater.eof or inflater.unused_data:
        raise MalformedBody("the gzip body ends too early or goes on after its end")


def _zstd(body: bytes) -> Iterator[bytes]:
    inflater = zstandard.ZstdDecompressor(max_window_size=8 * 1024 * 1024).decompressobj()
    read = 0
    try:
        while read < len(body) and not inflater.eof:
            yield inflater.decompress(body[read : read + _ZSTD_PIECE])
            read += _ZSTD_PIECE
    except zstandard.ZstdError as error:
        raise MalformedBody(f"the body is not zstd: {error}") from error
    if not inflater.eof or inflater.unused_data or read < len(body):
        raise MalformedBody("the zstd body ends too early or goes on after its end")


_INFLATERS: Final[dict[str, Callable[[bytes], Iterator[bytes]]]] = {
    "identity": lambda body: iter((body,)),
    "gzip": _gzip,
    "zstd": _zstd,
}


def _row(record: _Record, device_class: str, reason: str | None, received_at: datetime) -> dict[str, Any]:
    """The record as a flat row of `observation`."""
    observation = record.observation
    requested, executed, init, runs, golden = (
        observation.requested, observation.executed, observation.init, observation.runs, observation.golden,
    )  # fmt: skip
    after = observation.conditions.after if observation.conditions else None
    row = {name: getattr(observation, name) for name in _SAME_NAME}
    row |= {
        "payload_sha256": record.digest,
        "received_at": received_at,
        "set_aside": reason,
        "set_aside_payload": record.raw if reason else None,
        "device_class": device_class,
        "requested_delegate": requested.delegate if requested else None,
        "requested_accelerator": requested.accelerator if requested else None,
        "executed_by": executed.by if executed else None,
        "run_count": runs.count if runs else None,
        "errors": dict(runs.errors) if runs else None,
        "timeouts": runs.timeouts if runs else None,
        "fallbacks": runs.fallbacks if runs else None,
        "conditions": msgspec.to_builtins(observation.conditions),
        "thermal_after": after.thermal_status if after else None,
        "golden_checks": golden.checks if golden else None,
        "golden_passed": golden.passed if golden else None,
        "golden_max_rel_error": golden.max_rel_error if golden else None,
        "device_time": _storable(observation.device_time),
        "clock_skew_s": clock_skew_s(observation, received_at),
    }
    row |= {name: getattr(executed, name, None) for name in ("delegated_nodes", "total_nodes", "partitions")}
    row |= {name: getattr(init, name, None) for name in ("load_us", "compile_us", "cache_hit", "first_run_us")}
    return row | _latency_columns(observation, plausible=reason is None)


_SAME_NAME: Final = (
    "record_id", "report_id", "app", "release", "model", "arm", "kind", "plan", "propensity", "workload",
    "attempt_id", "memory_peak_kb", "monotonic_ms", "sdk", "app_version",
)  # fmt: skip


def _storable(moment: datetime | None) -> datetime | None:
    """The time, unless another zone could put it outside the years that dates have: it could never be read back."""
    return moment if moment is not None and MINYEAR < moment.year < MAXYEAR else None


def _latency_columns(observation: Observation, *, plausible: bool) -> dict[str, Any]:
    """Latency columns; all empty for a record set aside, whose numbers may not even fit the columns."""
    names = ("min", "p50", "p90", "max", "sum")
    empty = {f"latency_{name}_us": None for name in names} | {"histogram_buckets": None, "histogram_counts": None}
    latency = observation.runs.latency_us if observation.runs else None
    if latency is None or not plausible or observation.runs is None or observation.runs.count == 0:
        return empty
    counts = {
        int(bucket): count for bucket, count in sorted(latency.histogram.counts.items(), key=lambda kv: int(kv[0]))
    }
    return {
        "latency_min_us": latency.min,
        "latency_p50_us": quantile_us(counts, 0.5),
        "latency_p90_us": quantile_us(counts, 0.9),
        "latency_max_us": latency.max,
        "latency_sum_us": latency.sum,
        "histogram_buckets": list(counts),
        "histogram_counts": list(counts.values()),
    }
