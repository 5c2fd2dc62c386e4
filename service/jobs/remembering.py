"""What one learning run of this host leaves to the next: a file beside the data, put in its place whole."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import structlog

from ml.array_file import ModelFileError
from ml.memory import Memory

FILE: Final = "variances.nnfleet"

log = structlog.get_logger(__name__)


def recalled(folder: Path | None) -> Memory:
    """What the run before left in the folder. Nothing where there is none, or where it is of another version or damaged:
    then the run fits anew, as the first one did.
    """
    if folder is None:
        return Memory()
    try:
        return Memory.of((folder / FILE).read_bytes())
    except FileNotFoundError:
        return Memory()
    except ModelFileError as error:
        log.warning("memory-refused", file=str(folder / FILE), error=str(error))
        return Memory()


def remember(folder: Path | None, memory: Memory) -> None:
    """Leave the run's variances for the next one. What was learned stands where they cannot be kept."""
    if folder is None:
        return
    written = folder / f"{FILE}.{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written.write_bytes(memory.to_bytes())
        written.replace(folder / FILE)
    except OSError as error:
        log.warning("memory-not-kept", file=str(folder / FILE), error=str(error))
