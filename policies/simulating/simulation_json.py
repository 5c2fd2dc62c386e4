"""A tally as JSON values: what the API answers, the command prints, and a revision keeps as evidence."""

from __future__ import annotations

from typing import Any, Final

from policies.simulating.compare import Comparison
from policies.simulating.effect import Effect, Rung
from policies.simulating.tally import CLASSES_KEPT, Count, Figures, Moved, Tally, Transition, slower, worst

MOST_TRANSITIONS: Final = 200
MOST_WORSE: Final = 50
MOST_VALUES: Final = 50


def simulation_json(tally: Tally) -> dict[str, Any]:
    """Counts, shares, transitions by reports, and what gets worse first. Lists are cut, and say of how many."""
    transitions = sorted(tally.transitions.items(), key=lambda pair: (pair[0].effect.place, -pair[1].count.reports))
    return {
        "seen": _count(tally.seen),
        "changed": {effect: _count(tally.changed[effect]) for effect in Effect if effect in tally.changed},
        "unchanged_reports": tally.seen.reports - sum(count.reports for count in tally.changed.values()),
        "latency": _figures(tally.figures, sum(moved.count.reports for moved in tally.transitions.values())),
        "transitions": [_transition(*pair) for pair in transitions[:MOST_TRANSITIONS]],
        "transitions_total": len(transitions),
        "stated": [
            {"what": what, "id": name} | _count(count)
            for (what, name), count in sorted(tally.stated.items(), key=lambda pair: (pair[0][0], -pair[1].reports))
        ],
        "worse": [_worse(*row) for row in worst(tally, MOST_WORSE)],
        "worse_total": len(tally.worse),
        "by_fact": {fact: _by_value(tally, fact) for fact in ("soc", "soc_vendor", "api_level")},
    }


def _count(count: Count) -> dict[str, Any]:
    return {"classes": len(count.classes), "reports": count.reports, "windows": round(count.windows)}


def _transition(told: Transition, moved: Moved) -> dict[str, Any]:
    return {
        "model": told.model,
        "effect": told.effect,
        "workload": told.workload,
        "before": _rung(told.before),
        "after": _rung(told.after),
        **_count(moved.count),
        **_figures(moved.figures, moved.count.reports),
        "device_classes": sorted(moved.count.classes)[:CLASSES_KEPT],
    }


def _figures(figures: Figures, reports: int) -> dict[str, Any]:
    """Means over reports (counted once a model); latencies over those of which the rankings know them."""
    known = figures.known
    return {
        "moved_share": figures.moved_bp_sum / (reports * 10_000) if reports else 0.0,
        "known_reports": known,
        "unknown_reports": reports - known,
        "before_ms": figures.before_ms_sum / known if known else None,
        "after_ms": figures.after_ms_sum / known if known else None,
        "before_regret": figures.before_regret_sum / known if known else None,
        "after_regret": figures.after_regret_sum / known if known else None,
    }


def _worse(device_class: str, made: Comparison, reports: int) -> dict[str, Any]:
    latency = made.latency
    return {
        "device_class": device_class,
        "model": made.model,
        "effect": made.effect,
        "workload": made.workload,
        "before": _rung(made.before),
        "after": _rung(made.after),
        "reports": reports,
        "before_ms": latency.before_ms if latency else None,
        "after_ms": latency.after_ms if latency else None,
        "ratio": slower(made) if latency else None,
    }


def _rung(rung: Rung | None) -> dict[str, str] | None:
    return {"arm": rung.arm, "variant": rung.variant} if rung else None


def _by_value(tally: Tally, fact: str) -> list[dict[str, Any]]:
    """Values of a fact with the most changed reports first; those without any are left out."""
    found = [(value, counts) for (of, value), counts in tally.by_fact.items() if of == fact and counts[1]]
    found.sort(key=lambda pair: (-pair[1][1], pair[0]))
    return [{"value": value, "reports": seen, "changed": changed} for value, (seen, changed) in found[:MOST_VALUES]]
