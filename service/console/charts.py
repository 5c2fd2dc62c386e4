"""Geometry of charts; the templates draw them as SVG. Colours come from classes, so that both themes can be read."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

WIDTH, HEIGHT = 480, 240
LEFT, RIGHT, TOP, BOTTOM = 52, 124, 16, 34
FRAME: Final = {"width": WIDTH, "height": HEIGHT, "left": LEFT, "right": RIGHT}
"""What the template needs to draw axes, in units of the view box."""
LABEL_GAP = 16
MAX_X_LABELS = 10


@dataclass(frozen=True, slots=True)
class Point:
    """A drawn value with the text that a pointer shows."""

    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """One series. `label_y` is where its name stands, at the right end, clear of the others."""

    name: str
    points: tuple[Point, ...]
    label_y: float

    @property
    def path(self) -> str:
        """The `d` of an SVG path."""
        return "M" + " L".join(f"{p.x:.1f} {p.y:.1f}" for p in self.points)


@dataclass(frozen=True, slots=True)
class Tick:
    """A place on an axis and its text."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class LineChart:
    """Lines over a shared x axis. `summary` says in words what the lines show."""

    title: str
    summary: str
    lines: tuple[Line, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]


def line_chart(
    title: str,
    x: Sequence[tuple[float, str]],
    series: Sequence[tuple[str, Sequence[float | None]]],
    write: Callable[[float], str],
    *,
    floor: float,
    ceiling: float | None = None,
) -> LineChart | None:
    """A chart of series with a value, or None, for each x = (place, label); None where no series has a value.

    The y axis starts at `floor` or below and ends at `ceiling`, or where the values end.
    """
    given = [(name, values) for name, values in series if any(v is not None for v in values)]
    if not given:
        return None
    values = [v for _, row in given for v in row if v is not None]
    ticks = _ticks(min(floor, *values), max(values) if ceiling is None else ceiling)
    places = [place for place, _ in x]
    to_x = _scale(min(places), max(places), LEFT, WIDTH - RIGHT)
    to_y = _scale(ticks[0], ticks[-1], HEIGHT - BOTTOM, TOP)
    drawn = []
    for name, row in given:
        points = [
            Point(to_x(place), to_y(value), f"{name}, {label}: {write(value)}")
            for (place, label), value in zip(x, row, strict=True)
            if value is not None
        ]
        drawn.append((name, tuple(points)))
    return LineChart(
        title,
        " ".join(_in_words(name, row, write) for name, row in given),
        _labelled(drawn),
        tuple(Tick(to_x(place), label) for place, label in x[:: -(-len(x) // MAX_X_LABELS)]),
        tuple(Tick(to_y(value), write(value)) for value in ticks),
    )


def _in_words(name: str, row: Sequence[float | None], write: Callable[[float], str]) -> str:
    known = [value for value in row if value is not None]
    return f"{name}: from {write(known[0])} to {write(known[-1])}."


def _labelled(drawn: Sequence[tuple[str, tuple[Point, ...]]]) -> tuple[Line, ...]:
    """Names at the right ends, moved apart where the lines end too close."""
    lowest_first = sorted(drawn, key=lambda line: line[1][-1].y)
    places: dict[str, float] = {}
    previous = -math.inf
    for name, points in lowest_first:
        previous = max(points[-1].y, previous + LABEL_GAP)
        places[name] = previous
    return tuple(Line(name, points, places[name]) for name, points in drawn)


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    if high <= low:
        return lambda _value: (start + end) / 2
    return lambda value: start + (value - low) / (high - low) * (end - start)


def _ticks(low: float, high: float) -> list[float]:
    """Four to seven round values that enclose the range."""
    if high <= low:
        high = low + 1
    raw = (high - low) / 4
    magnitude = 10.0 ** math.floor(math.log10(raw))
    step = next(m * magnitude for m in (1, 2, 2.5, 5, 10) if m * magnitude >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, 10) for number in range(first, last + 1)]


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate and its 95 % interval as places 0…100 on a shared logarithmic axis."""

    low: float
    middle: float
    high: float


def intervals(estimates: Sequence[tuple[float, float, float]]) -> list[Interval]:
    """Places of (expected, low, high) estimates in ms; all must be over 0 ms."""
    if not estimates:
        return []
    logs = [(math.log(expected), math.log(low), math.log(high)) for expected, low, high in estimates]
    to_x = _scale(min(low for _, low, _ in logs), max(high for *_, high in logs), 3, 97)
    return [Interval(to_x(low), to_x(expected), to_x(high)) for expected, low, high in logs]
