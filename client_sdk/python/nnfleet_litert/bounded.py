"""Folders of files that are written once, kept whole, and bounded: what was used longest ago makes room."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

DRAFT: Final = ".draft"
"""The end of names that are not finished: of a file being written, or of one whose process did not live to finish it."""
STALE_DRAFT_S: Final = 3_600


def finish(draft: Path, kept: Path) -> None:
    """Give a file its name, its bytes on the disk first: after a power cut a name without them would look right."""
    handle = os.open(draft, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    draft.replace(kept)


def touch(kept: Path) -> None:
    """Note that a file was used now, where the disk lets one."""
    with suppress(OSError):
        os.utime(kept)


def prune(folder: Path, most_bytes: int) -> None:
    """Remove what was used longest ago until the rest fits, and drafts that nobody is writing any more."""
    looked = sorted(((path.stat(), path) for path in folder.iterdir()), key=lambda each: -each[0].st_mtime)
    room = most_bytes
    for told, path in looked:
        if path.suffix == DRAFT:
            unwanted = looked[0][0].st_mtime - told.st_mtime > STALE_DRAFT_S
        else:
            room -= told.st_size
            unwanted = room < 0
        if unwanted:
            path.unlink(missing_ok=True)
