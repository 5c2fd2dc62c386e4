"""Small files that are whole or absent, never half."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

MOST_FILE_BYTES: Final = 16 * 1024 * 1024
"""More than any file of ours holds. What is bigger is damaged, would eat the memory of every start, and is thrown away."""


def write_atomically(path: Path, content: bytes) -> bool:
    """Replace a file in one step, so that a crash leaves the old or the new one.

    False where the disk refuses (full, read-only): a client works on without it.
    """
    beside = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError:
        with suppress(OSError):
            beside.unlink()  # a full disk needs the room
        return False
    return True


def read_or_none(path: Path) -> bytes | None:
    """A file's bytes; None where there is none, the disk refuses, or there are more than any file of ours holds."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_FILE_BYTES + 1)
        if len(content) <= MOST_FILE_BYTES:
            return content
        path.unlink()
    except OSError:
        return None
    return None
