"""Which tests stay together where several processes run them: each test goes to whoever is free, but for a few folders.

A scheduler of our own: xdist's marks for groups do nothing under pytest 9.2, which builds the ids of tests otherwise.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Final

from xdist.scheduler import LoadScopeScheduling

TOGETHER: Final = {"e2e": "sites", "faults": "sites", "java": "builds", "probe": "builds"}
"""Folders whose tests never run beside one another: they load whole sites of processes, or build in the same folder."""


class Spread(LoadScopeScheduling):
    """One process runs all of a group, one after the other; groups are handed out first."""

    def _split_scope(self, nodeid: str) -> str:
        folder = PurePosixPath(nodeid.partition("::")[0]).parent.name
        return TOGETHER.get(folder, nodeid)
