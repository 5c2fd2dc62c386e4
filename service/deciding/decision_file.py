"""One immutable file of ready decisions: mapped into memory, shared by all workers, found by digest.

    magic | where the header lies | bodies and signatures | for each app: entries, directory | header (JSON)

A body that many reports share is in the file once. Entries of an app are sorted by report id. The directory says, for each
value of an id's first bits, where its entries begin: digests are uniform, so a lookup reads one or two entries however
many there are. All numbers are little-endian.

Why a file: a dictionary of 100,000 answers is private memory of every worker, for reference counts dirty the pages that
a fork would share.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

MAGIC: Final = b"nnfleet decisions 1\n"
_HEADER_AT: Final = struct.Struct("<QQ")
_ENTRY: Final = struct.Struct("<32s32sQIQI")
"""Report id, sha256 of the body, the body's offset and length, the signature's offset and length."""
_START: Final = struct.Struct("<I")
_MAX_BITS: Final = 24


class UnreadableFile(ValueError):
    """No decision file of ours, or one that is cut short."""


class SignedBody(NamedTuple):
    """A decision document for one report: its bytes, their sha256 in hexadecimal, the signature (empty: unsigned)."""

    body: bytes
    body_sha256: str
    signature: str


@dataclass(frozen=True, slots=True)
class _Table:
    """Where the entries of one app lie, and the `bits` of a report id that its directory is sorted by."""

    entries: int
    directory: int
    count: int
    bits: int


class DecisionFile:
    """A file, open. `release`: the release its decisions follow. Raises UnreadableFile, and OSError without a file."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._map = _mapped(file.fileno(), path)
        try:
            header = _header(self._map)
            self.release: int = header["release"]
            self._tables = {app: _Table(**table) for app, table in header["apps"].items()}
        except (ValueError, KeyError, TypeError, struct.error) as error:
            raise UnreadableFile(f"{path} is no decision file: {error}") from error

    def __len__(self) -> int:
        return sum(table.count for table in self._tables.values())

    def get(self, app: str, report_id: str) -> SignedBody | None:
        """The decision for the report, None where the file has none."""
        table = self._tables.get(app)
        try:
            digest = bytes.fromhex(report_id)
        except ValueError:
            return None
        if table is None or len(digest) != 32:
            return None
        slot = int.from_bytes(digest[:4]) >> 32 - table.bits
        first, end = struct.unpack_from("<II", self._map, table.directory + slot * _START.size)
        for number in range(first, end):
            entry = _ENTRY.unpack_from(self._map, table.entries + number * _ENTRY.size)
            if entry[0] == digest:
                return self._signed_body(entry)
        return None

    def pairs(self) -> Iterator[tuple[str, str]]:
        """All (app, report id) that it holds."""
        for app, table in self._tables.items():
            for number in range(table.count):
                yield app, _ENTRY.unpack_from(self._map, table.entries + number * _ENTRY.size)[0].hex()

    def _signed_body(self, entry: tuple[Any, ...]) -> SignedBody:
        _, digest, body_at, body_size, signature_at, signature_size = entry
        body = self._map[body_at : body_at + body_size]
        return SignedBody(body, digest.hex(), self._map[signature_at : signature_at + signature_size].decode("ascii"))


def _mapped(descriptor: int, path: Path) -> mmap.mmap:
    try:
        return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
    except ValueError as error:
        raise UnreadableFile(f"{path} is empty") from error


def _header(mapped: mmap.mmap) -> dict[str, Any]:
    if mapped[: len(MAGIC)] != MAGIC:
        raise ValueError("it begins with something else")
    offset, size = _HEADER_AT.unpack_from(mapped, len(MAGIC))
    if not offset or offset + size != len(mapped):
        raise ValueError("it was not written to its end")
    header: dict[str, Any] = json.loads(mapped[offset : offset + size])
    return header


class DecisionFileWriter:
    """Writes a file beside `path` and puts it in its place at the end of the block, whole or not at all."""

    def __init__(self, path: Path, release: int) -> None:
        self._path = path
        self._release = release
        self._bodies: dict[bytes, tuple[int, int]] = {}
        self._entries: dict[str, list[bytes]] = {}

    def __enter__(self) -> Self:
        self._temporary = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        self._file = self._temporary.open("wb")
        self._file.write(MAGIC + _HEADER_AT.pack(0, 0))
        return self

    def add(self, app: str, report_id: str, body: bytes, signature: str) -> None:
        """Put in one decision. An (app, report) comes once."""
        digest = sha256(body).digest()
        if digest not in self._bodies:
            self._bodies[digest] = (self._append(body), len(body))
        signed = signature.encode("ascii")
        entry = _ENTRY.pack(bytes.fromhex(report_id), digest, *self._bodies[digest], self._append(signed), len(signed))
        self._entries.setdefault(app, []).append(entry)

    def __exit__(self, kind: type[BaseException] | None, value: object, traceback: TracebackType | None) -> None:
        with self._file:
            if kind is None:
                self._finish()
        if kind is None:
            self._temporary.replace(self._path)
        else:
            self._temporary.unlink()

    def _finish(self) -> None:
        tables = {app: asdict(self._table(sorted(entries))) for app, entries in self._entries.items()}
        header = json.dumps({"release": self._release, "apps": tables}).encode()
        offset = self._append(header)
        self._file.seek(len(MAGIC))
        self._file.write(_HEADER_AT.pack(offset, len(header)))
        self._file.flush()
        os.fsync(self._file.fileno())

    def _table(self, entries: list[bytes]) -> _Table:
        bits = min(_MAX_BITS, len(entries).bit_length())
        at = self._append(b"".join(entries))
        return _Table(at, self._append(_directory(entries, bits)), len(entries), bits)

    def _append(self, data: bytes) -> int:
        at = self._file.tell()
        self._file.write(data)
        return at


def _directory(entries: list[bytes], bits: int) -> bytes:
    """For each value of the first `bits` bits, the number of the first entry that has it or a higher one; and the end."""
    starts: list[int] = []
    for number, entry in enumerate(entries):
        slot = int.from_bytes(entry[:4]) >> 32 - bits
        starts += [number] * (slot + 1 - len(starts))
    starts += [len(entries)] * ((1 << bits) + 1 - len(starts))
    return b"".join(map(_START.pack, starts))
