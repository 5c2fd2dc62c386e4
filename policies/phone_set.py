"""Sets of phones by GPU, API version, maker, model and Android range: subtracted, gathered, written as conditions."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

Fact = Literal["gles", "gpu", "maker", "model"]
Levels = tuple[int, int]
"""First and last API level, both included."""

ALL_LEVELS: Final[Levels] = (0, 99_999)
_GATHERED: Final[tuple[Fact, ...]] = ("model", "gpu", "maker")
_MOST_VALUES: Final = 48
"""In one condition: longer ones would exceed what the language takes."""


@dataclass(frozen=True)
class PhoneSet:
    """Phones that have one of the values of every fact that is stated, and none of the exceptions' facts."""

    facts: Mapping[Fact, tuple[str, ...]]
    levels: Levels = ALL_LEVELS
    exceptions: tuple[PhoneSet, ...] = field(default=())


def without(phones: PhoneSet, others: Iterable[PhoneSet]) -> list[PhoneSet]:
    """The phones that are in none of the others: fewer Android levels where those cover the set, else exceptions."""
    spans = [phones.levels]
    exceptions: list[PhoneSet] = []
    for other in others:
        if not _meet(phones, other):
            continue
        more = {fact: values for fact, values in other.facts.items() if fact not in phones.facts}
        if more:
            exceptions.append(PhoneSet(more, other.levels))
        else:
            spans = [left for span in spans for left in _subtracted(span, other.levels)]
    return [PhoneSet(phones.facts, span, tuple(gathered(_within(exceptions, span)))) for span in spans]


def _meet(one: PhoneSet, other: PhoneSet) -> bool:
    both = one.facts.keys() & other.facts.keys()
    return all(one.facts[fact] == other.facts[fact] for fact in both) and _overlap(one.levels, other.levels)


def _overlap(one: Levels, other: Levels) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def _subtracted(span: Levels, taken: Levels) -> Iterator[Levels]:
    if not _overlap(span, taken):
        yield span
        return
    if span[0] < taken[0]:
        yield (span[0], taken[0] - 1)
    if taken[1] < span[1]:
        yield (taken[1] + 1, span[1])


def _within(exceptions: Iterable[PhoneSet], span: Levels) -> Iterator[PhoneSet]:
    """Exceptions that matter in the span; a level that the span implies is left out."""
    for one in exceptions:
        if _overlap(one.levels, span):
            least = one.levels[0] if one.levels[0] > span[0] else ALL_LEVELS[0]
            most = one.levels[1] if one.levels[1] < span[1] else ALL_LEVELS[1]
            yield PhoneSet(one.facts, (least, most))


def gathered(sets: Iterable[PhoneSet]) -> list[PhoneSet]:
    """The same phones in fewer sets: those that differ in the values of one fact become one."""
    found = list(sets)
    for fact in _GATHERED:
        alike: defaultdict[object, list[PhoneSet]] = defaultdict(list)
        for phones in found:
            rest = tuple(sorted((f, v) for f, v in phones.facts.items() if f != fact))
            alike[rest, fact in phones.facts, phones.levels, _key(phones.exceptions)].append(phones)
        found = [made for group in alike.values() for made in _joined(group, fact)]
    return found


def _key(exceptions: Iterable[PhoneSet]) -> tuple[object, ...]:
    return tuple((tuple(sorted(one.facts.items())), one.levels) for one in exceptions)


def _joined(group: list[PhoneSet], fact: Fact) -> Iterator[PhoneSet]:
    first = group[0]
    if fact not in first.facts:
        yield first
        return
    values = sorted({value for phones in group for value in phones.facts[fact]})
    for start in range(0, len(values), _MOST_VALUES):
        part = tuple(values[start : start + _MOST_VALUES])
        yield PhoneSet({**first.facts, fact: part}, first.levels, first.exceptions)


def conditions(phones: PhoneSet) -> str:
    """The set in the policy language; empty where it is all phones."""
    parts = [_WRITTEN[fact](phones.facts[fact]) for fact in _WRITTEN if fact in phones.facts]
    parts += _written_levels(*phones.levels)
    parts += [f"!({conditions(one)})" for one in phones.exceptions]
    return " && ".join(parts)


def _written_levels(least: int, most: int) -> Iterator[str]:
    if least == most:
        yield f"device.api_level == {least}"
        return
    if least > ALL_LEVELS[0]:
        yield f"device.api_level >= {least}"
    if most < ALL_LEVELS[1]:
        yield f"device.api_level <= {most}"


def _among(name: str, values: tuple[str, ...]) -> str:
    return f"{name} == {_text(values[0])}" if len(values) == 1 else f"{name} in [{', '.join(map(_text, values))}]"


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def is_open_ended(family: str) -> bool:
    """Whether the renderer goes on with the version of what it runs on, so that only its beginning is known."""
    return family.endswith("-on-vulkan")


def _gpus(values: tuple[str, ...]) -> str:
    open_ended = [value for value in values if is_open_ended(value)]
    whole = tuple(value for value in values if value not in open_ended)
    parts = [f"gpu.family.startsWith({_text(value)})" for value in open_ended]
    parts += [_among("gpu.family", whole)] if whole else []
    return parts[0] if len(parts) == 1 else f"({' || '.join(parts)})"


_WRITTEN: Final[Mapping[Fact, Callable[[tuple[str, ...]], str]]] = {
    "gles": lambda values: f'dotted(gpu.gles, "== {values[0]}")',
    "gpu": _gpus,
    "maker": lambda values: _among("device.manufacturer", values),
    "model": lambda values: _among("device.model_key", values),
}
