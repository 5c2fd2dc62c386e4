"""Fleet: what needs attention, what is live, what the fleet is made of, and how well it is served."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from flask import render_template
from sqlmodel import Session

from service.console import fleet_figures
from service.console.attention import HARMS, attention
from service.console.charts import FRAME, LineChart, line_chart
from service.console.formats import factor, share
from service.console.own_releases import seen_note
from service.context import services
from service.store import class_facts, releases

SHARE_TITLES: Final = (
    ("soc", "SoC", "soc"),
    ("soc_vendor", "SoC vendor", "vendor"),
    ("api_level", "Android API level", "api"),
    ("accelerators", "Accelerator", "accelerator"),
)
"""Fact, its title, and the filter of the class list that finds its classes."""


def page() -> str:
    """The fleet page."""
    with Session(services().engine) as session:
        known = class_facts.tallies(session)
        counts = fleet_figures.counts(session, known)
        learned = fleet_figures.newest_run(session)
        kinds = attention(session)
        rounds = fleet_figures.rounds(session)
        newest = releases.newest(session)
    return render_template(
        "console/fleet.html",
        counts=counts,
        composition=fleet_figures.composition(known, counts.reports),
        share_titles=SHARE_TITLES,
        learned=learned,
        kinds=kinds,
        harms=HARMS,
        newest=newest,
        note=seen_note(newest.author, newest.note) if newest else "",
        rounds=rounds,
        charts=_curves(rounds),
        frame=FRAME,
    )


def _curves(rounds: Sequence[Mapping[str, Any]]) -> list[LineChart]:
    """Regret and shares over rounds; none before the second round, for a single point is no curve."""
    if len(rounds) < 2:
        return []
    regret = _curve(rounds, "Regret by round", {"mean": "mean_regret", "95th percentile": "p95_regret"}, factor, 1.0)
    parts = {"within 10%": "within_1_1", "target met": "target_met"}
    return [c for c in (regret, _curve(rounds, "Share of uses by round", parts, _percent, 0.0, 1.0)) if c]


def _percent(part: float) -> str:
    return share(part) if 0 < part < 1 and part * 100 % 1 else f"{part:.0%}"


def _curve(
    rounds: Sequence[Mapping[str, Any]],
    title: str,
    columns: Mapping[str, str],
    write: Callable[[float], str],
    floor: float,
    ceiling: float | None = None,
) -> LineChart | None:
    places = [(float(row["round"]), f"{row['round']}") for row in rounds]
    series = [(name, [row.get(key) for row in rounds]) for name, key in columns.items()]
    return line_chart(title, places, series, write, floor=floor, ceiling=ceiling)
