"""The compile cache: packed weights on disk, by what they were packed from, for which runtime, settings and processor.

XNNPACK packs a file's weights for the kernels that it picks, and maps them where they are at hand. It trusts a file that looks
right, so what it may not be given is kept apart here: another model, another runtime, a half-written file.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from nnfleet_litert.bounded import DRAFT, finish, prune, touch
from nnfleet_litert.machine import processor

MOST_BYTES: Final = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Place:
    """Where a start finds its weights, or leaves them. `before` is what the kept file looked like, None where there is none."""

    kept: Path
    path: Path
    before: tuple[int, int, int] | None


class WeightCache:
    """Packed weights in `folder`, at most `most_bytes` of them: what was used longest ago goes first.

    A file is written beside its name and takes it when it is whole. One that a start rejects, dies or hangs with is thrown
    away, so that the next start packs anew. A disk that refuses costs the cache, never the start.
    """

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES) -> None:
        self._folder = folder
        self._most_bytes = most_bytes

    def place(self, arm: Mapping[str, Any]) -> Place | None:
        """Where the weights of an arm lie, or are to be written. None where the folder cannot be had."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            return None
        kept = self._folder / key(arm)
        before = _look(kept)
        return Place(kept, kept if before else kept.with_name(f"{kept.name}-{uuid.uuid4().hex}{DRAFT}"), before)

    def keep(self, place: Place) -> bool:
        """Take up what a start left; whether it was served from the cache, and not packed anew into it."""
        try:
            if place.before is None:
                finish(place.path, place.kept)
            hit = place.before is not None and _look(place.kept) == place.before
            touch(place.kept)
            prune(self._folder, self._most_bytes)
        except OSError:
            return False
        return hit

    def discard(self, place: Place) -> None:
        """Throw away what a start that failed had been given, or had begun to write."""
        place.path.unlink(missing_ok=True)


def key(arm: Mapping[str, Any]) -> str:
    """A name for the weights of an arm: anything that may change them changes it."""
    parts = {
        "file": arm["variant"]["sha256"],
        "runtime": version("ai-edge-litert"),
        "options": dict(arm.get("options", {})),  # with the server's token, which changes with the build of the device
        "processor": processor(),
    }
    return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _look(path: Path) -> tuple[int, int, int] | None:
    """What changes when a file is written again; None of no file, or an empty one."""
    try:
        told = path.stat()
    except OSError:
        return None
    return (told.st_ino, told.st_size, told.st_mtime_ns) if told.st_size else None
