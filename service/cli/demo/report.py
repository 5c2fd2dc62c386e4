"""The HTML report of a demo: one file, no script, readable in light and dark, printable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from ml.findings import Finding
from service.cli.demo.verdict import Verdict

WIDTH: Final = 340
HEIGHT: Final = 190
LEFT, RIGHT, TOP, BOTTOM = 34, 14, 18, 34


def write_report(file: Path, verdict: Verdict, findings: Sequence[Finding], setup: Mapping[str, Any]) -> None:
    """Write the report to `file`, making its folder. `setup`: what was played (devices, models, seed, …)."""
    environment = Environment(
        loader=PackageLoader("service.cli.demo", "."), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    regret = [row.mean_regret for row in verdict.rounds]
    page = environment.get_template("report.html.j2").render(
        verdict=verdict,
        findings=findings,
        setup=setup,
        curves=[
            curve("Mean regret", "×", regret, 1.0, max(regret)),
            curve("Within 1.1 × of the best arm", "%", [100 * row.within_1_1 for row in verdict.rounds], 0, 100),
            curve("Latency target met", "%", [100 * row.target_met for row in verdict.rounds], 0, 100),
        ],
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(page, "utf-8")


def curve(title: str, unit: str, values: Sequence[float], low: float, high: float) -> dict[str, Any]:
    """A line chart's geometry: points, and ticks on the value axis from `low` to `high`."""
    span = (high - low) or 1.0
    step = (WIDTH - LEFT - RIGHT) / max(len(values) - 1, 1)

    def y(value: float) -> float:
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - (value - low) / span), 1)

    points = [(round(LEFT + step * i, 1), y(value), value) for i, value in enumerate(values)]
    ticks = [(y(low + span * part / 4), low + span * part / 4) for part in range(5)]
    return {
        "title": title, "unit": unit, "points": points, "ticks": ticks, "width": WIDTH, "height": HEIGHT, "left": LEFT,
        "right": WIDTH - RIGHT, "bottom": HEIGHT - BOTTOM,
    }  # fmt: skip
