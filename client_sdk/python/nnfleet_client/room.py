"""A folder of files for one client at a time.

Two that wrote the same files would lose each other's observations, and each would take the other's running starts for crashes.
Apps do have several processes, and make a second client in one by mistake: the second gets a room beside the first one's.
"""

from __future__ import annotations

import os
import sys
import weakref
from pathlib import Path
from typing import Final

LOCK_FILE: Final = "lock"
MOST_ROOMS: Final = 8

if sys.platform == "win32":

    def _lock(handle: int) -> None:
        """Windows is no phone: one client a folder is left to the app there."""
else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


class Room:
    """The first free one of `folder`, `folder/room-2`, … `folder/room-8`, until it is closed, or its process ends.

    `folder` is None where there was none to begin with, or where all are taken: then nothing is kept on disk. A disk that
    cannot lock is used without.
    """

    def __init__(self, folder: Path | None) -> None:
        rooms = [] if folder is None else [folder, *(folder / f"room-{number}" for number in range(2, MOST_ROOMS + 1))]
        self._let_go: weakref.finalize[[int], Room] | None = None
        self.folder = next((room for room in rooms if self._takes(room)), None)

    def close(self) -> None:
        """Leave it to another client."""
        if self._let_go is not None:
            self._let_go()

    def _takes(self, room: Path) -> bool:
        try:
            room.mkdir(parents=True, exist_ok=True)
            handle = os.open(room / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            return True
        try:
            _lock(handle)
        except BlockingIOError:
            os.close(handle)
            return False
        except OSError:
            os.close(handle)
            return True
        self._let_go = weakref.finalize(self, os.close, handle)
        return True
