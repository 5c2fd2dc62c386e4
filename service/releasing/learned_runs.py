"""Rankings of learning runs, unpacked: as large as those of a release, and looked at page by page."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Final

from sqlalchemy import Engine
from sqlmodel import Session

from service.releasing.release_content import Rankings, unpack_rankings
from service.store import releases

KEPT: Final = 2
"""Runs a worker remembers: whoever compares, compares two."""


class LearnedRuns:
    """Rankings by the number of the run. A run never changes, so what was read once stays right."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._kept: OrderedDict[int, Rankings] = OrderedDict()
        self._changing = Lock()

    def rankings(self, number: int) -> Rankings | None:
        """The rankings of that run; None where there is none."""
        with self._changing:  # held while reading: of many that ask for one run, one reads it
            found = self._kept.get(number)
            if found is None:
                with Session(self._engine) as session:
                    row = releases.recommendation(session, number)
                if row is None:
                    return None
                found = unpack_rankings(row.rankings)
            self._kept[number] = found
            self._kept.move_to_end(number)
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return found
