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
        self._lines = 0

    @property
    def lines(self) -> int:
        """Lines in the file, the outdated ones included."""
        return self._lines

    def append(self, line: bytes, durable: bool) -> None:
        """Add a line; a durable one is on the disk when this returns, even if the phone reboots now."""
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                file.write(line + b"\n")
                file.flush()
                if durable:
                    os.fsync(file.fileno())
        except OSError:
            return
        self._lines += 1

    def rewrite(self, lines: Iterable[bytes]) -> None:
        """Replace the whole file in one step."""
        if self._path is None:
            return
        kept = list(lines)
        if write_atomically(self._path, b"".join(line + b"\n" for line in kept)):
            self._lines = len(kept)

    def read(self) -> Iterator[bytes]:
        """The lines of the file; a last one that was torn by a crash is the reader's to skip."""
        content = None if self._path is None else read_or_none(self._path)
        lines = (content or b"").splitlines()
        self._lines = len(lines)
        return iter(lines)
