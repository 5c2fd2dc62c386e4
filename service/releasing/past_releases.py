"""Releases that are not live any more, for explaining a device against one of them."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Final

from sqlalchemy import Engine

from policies.errors import UnknownRelease
from service.releasing.release_content import ReleaseContent
from service.releasing.releases import load

KEPT: Final = 2
"""Parsed releases a worker remembers: whoever compares, compares two."""


class PastReleases:
    """Parsed releases by number. A release never changes, so what was read once stays right."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._kept: OrderedDict[int, ReleaseContent] = OrderedDict()
        self._changing = Lock()

    def release(self, number: int) -> ReleaseContent:
        """The release of that number; raises UnknownRelease."""
        with self._changing:  # held while reading: of many that ask for one release, one reads it
            content = self._kept.get(number) or load(self._engine, number)
            if content is None:
                raise UnknownRelease(f"there is no release {number}", field="release")
            self._kept[number] = content
            self._kept.move_to_end(number)
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return content
