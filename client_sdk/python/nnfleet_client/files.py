"""Small files that are whole or absent, never half."""

from __future__ import annotations

import os
from pathlib import Path


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
        return False
    return True


def read_or_none(path: Path) -> bytes | None:
    """A file's bytes; None where there is none or the disk refuses."""
    try:
        return path.read_bytes()
    except OSError:
        return None
