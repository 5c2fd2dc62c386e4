"""Bytes from the network into a file, counted and hashed on their way: never all of them in memory."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from policies.errors import BodyTooLarge, DigestMismatch
from service.intake.admission import StorageFull
from service.intake.room import RETRY_AFTER_S

PIECE_BYTES: Final = 1024 * 1024
PREFIX: Final = "upload-"

Read = Callable[[int], bytes]
"""At most so many bytes of the body; none at its end."""


@contextmanager
def received(read: Read, sha256: str, incoming: Path, most_bytes: int) -> Iterator[Path]:
    """The body as a file while the block runs, which may move it away.

    Raises BodyTooLarge without reading past the limit, and DigestMismatch where the bytes are others than announced.
    """
    with tempfile.NamedTemporaryFile(dir=incoming, prefix=PREFIX, delete=False) as file:
        path = Path(file.name)
        try:
            digest = hashlib.sha256()
            left = most_bytes
            while piece := read(min(PIECE_BYTES, left + 1)):
                left -= len(piece)
                if left < 0:
                    raise BodyTooLarge(f"the file has over {most_bytes} bytes", limit=most_bytes)
                digest.update(piece)
                file.write(piece)
            file.flush()
            _check_digest(sha256, digest.hexdigest())
            yield path
        finally:
            path.unlink(missing_ok=True)


def check_room(incoming: Path, needed_bytes: int, least_free_bytes: int) -> None:
    """Raise StorageFull where a file of that size would leave too little of the disk."""
    if shutil.disk_usage(incoming).free - needed_bytes < least_free_bytes:
        raise StorageFull("the disk for artifacts is nearly full", RETRY_AFTER_S, limit=least_free_bytes)


def _check_digest(announced: str, found: str) -> None:
    if announced != found:
        raise DigestMismatch(f"the address says {announced}, the bytes have the digest {found}", field="sha256")
