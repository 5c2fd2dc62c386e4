"""Observations on disk, so that a crash or a restart loses none: one JSON record a line, appended."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from nnfleet_client.files import read_or_none, write_atomically

SPOOL_FILE: Final = "observations.ndjson"


class Spool:
    """A file of lines in a folder; without a folder it keeps nothing and costs nothing.

    A disk that refuses (full, read-only) is survived: the lines are then in memory only.
    """

    def __init__(self, folder: Path | None) -> None:
        self._path = None if folder is None else folder / SPOOL_FILE
        self._size_bytes = 0
        self._torn = False

    @property
    def size_bytes(self) -> int:
        """Bytes in the file, those of outdated lines included."""
        return self._size_bytes

    def append(self, line: bytes, durable: bool) -> None:
        """Add a line; a durable one is on the disk when this returns, even if the phone reboots now."""
        if self._path is None:
            return
        # A line after half a line would be lost with it, and a mark is written in just the moments when lines are torn.
        content = b"\n" * self._torn + line + b"\n"
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                file.write(content)
                file.flush()
                if durable:
                    os.fsync(file.fileno())
        except OSError:
            self._torn = True  # a full disk may have taken half of it
            return
        self._torn = False
        self._size_bytes += len(content)

    def rewrite(self, lines: Iterable[bytes]) -> None:
        """Replace the whole file in one step."""
        if self._path is None:
            return
        content = b"".join(line + b"\n" for line in lines)
        if write_atomically(self._path, content):
            self._size_bytes, self._torn = len(content), False

    def read(self) -> Iterator[bytes]:
        """The lines of the file; a last one that was torn by a crash is the reader's to skip."""
        content = (None if self._path is None else read_or_none(self._path)) or b""
        self._size_bytes, self._torn = len(content), content[-1:] not in {b"", b"\n"}
        return iter(content.splitlines())
