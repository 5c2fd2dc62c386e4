"""Groups of phones for Google Play: who needs which model files, told by chip and memory, which is what Play knows.

Play's device targeting: a group is a list of at most five selectors, any of which may hold; a selector is a list of
systems on chip, any of which may hold, and bounds of memory, the lower one inclusive, the upper one exclusive. Of several
groups that hold Play takes the first; here they never overlap. Source: developer.android.com/google/play/device-targeting.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

MAX_SELECTORS: Final = 5
GIB: Final = 2**30

Files = tuple[tuple[str, tuple[str, ...]], ...]
"""(model, ids of the variants in its ladder), by model: what has to be on the phone."""


@dataclass(frozen=True, slots=True, order=True)
class Chip:
    """A system on chip exactly as phones name it: `Build.SOC_MANUFACTURER` and `Build.SOC_MODEL`."""

    manufacturer: str
    model: str


@dataclass(frozen=True, slots=True)
class Phones:
    """Phones of one device class: `reports` of them were seen. `chip` is None where they do not name it."""

    chip: Chip | None
    ram_gb: int | None
    reports: int
    files: Files


@dataclass(frozen=True, slots=True, order=True)
class Memory:
    """Bounds in bytes: from `min_bytes` on, below `max_bytes`; 0 is no bound."""

    min_bytes: int = 0
    max_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Selector:
    """Phones with any of these chips and that much memory."""

    memory: Memory
    chips: tuple[Chip, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """A device group. The name follows from the files, so that it stays the same from export to export."""

    name: str
    files: Files
    selectors: tuple[Selector, ...]


@dataclass(frozen=True, slots=True)
class PlayGroups:
    """All groups, and what Play cannot be told, in sentences."""

    groups: tuple[Group, ...]
    warnings: tuple[str, ...]


def play_groups(phones: Iterable[Phones]) -> PlayGroups:
    """The groups of these phones. Phones of one chip and memory that need different files go with most of them."""
    by_chip: defaultdict[Chip, list[Phones]] = defaultdict(list)
    unnamed = 0
    for seen in phones:
        if seen.chip is None:
            unnamed += seen.reports
        else:
            by_chip[seen.chip].append(seen)
    warnings = [f"{unnamed} reports name no chip (below Android 12): the default variant"] if unnamed else []
    selected: defaultdict[Files, defaultdict[Memory, list[Chip]]] = defaultdict(lambda: defaultdict(list))
    for chip, seen_of_chip in sorted(by_chip.items()):
        warnings += _disagreements(chip, seen_of_chip)
        for memory, files in _ranges(seen_of_chip):
            if files:
                selected[files][memory].append(chip)
    groups = [group for files, by_memory in sorted(selected.items()) for group in _groups(files, by_memory)]
    return PlayGroups(tuple(groups), tuple(warnings))


def _choices(phones: Sequence[Phones]) -> dict[int | None, Counter[Files]]:
    """ram_gb → how many reports want which files."""
    wanted: defaultdict[int | None, Counter[Files]] = defaultdict(Counter)
    for seen in phones:
        wanted[seen.ram_gb][seen.files] += seen.reports
    return dict(wanted)


def _most(wanted: Counter[Files]) -> Files:
    return min(wanted, key=lambda files: (-wanted[files], files))


def _ranges(phones: Sequence[Phones]) -> Iterator[tuple[Memory, Files]]:
    """Ranges of memory with their files, from little to much. Phones that do not tell their memory draw no bound."""
    choices = _choices(phones)
    known = sorted((ram_gb, _most(wanted)) for ram_gb, wanted in choices.items() if ram_gb is not None)
    if not known:
        yield Memory(), _most(choices[None])
        return
    runs = [(next(run)[0], files) for files, run in groupby(known, key=lambda choice: choice[1])]
    # Classes round to whole gigabytes: 8 stands for all from 7.5 on.
    floors = [0, *(int((ram_gb - 0.5) * GIB) for ram_gb, _ in runs[1:]), 0]
    for (_, files), low, high in zip(runs, floors, floors[1:], strict=False):
        yield Memory(low, high), files


def _disagreements(chip: Chip, phones: Sequence[Phones]) -> Iterator[str]:
    name = f"{chip.manufacturer} {chip.model}"
    for ram_gb, wanted in sorted(_choices(phones).items(), key=lambda item: item[0] or 0):
        others = wanted.total() - wanted[_most(wanted)]
        memory = "unknown memory" if ram_gb is None else f"{ram_gb} GB"
        if others:
            yield f"{name}, {memory}: {others} of {wanted.total()} reports need other files, by what Play cannot see"


def _groups(files: Files, by_memory: Mapping[Memory, Sequence[Chip]]) -> Iterator[Group]:
    selectors = [Selector(memory, tuple(chips)) for memory, chips in sorted(by_memory.items())]
    name = f"files_{hashlib.sha256(json.dumps(files).encode()).hexdigest()[:8]}"
    for number, first in enumerate(range(0, len(selectors), MAX_SELECTORS), 1):
        few = tuple(selectors[first : first + MAX_SELECTORS])
        yield Group(name if number == 1 else f"{name}_{number}", files, few)
