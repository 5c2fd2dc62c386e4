"""How benchmarks say what a figure was to be. A missed goal is printed, not an error: a shared machine is no judge."""

from __future__ import annotations


def at_most(found: float, limit: float, unit: str) -> str:
    """The goal for a figure that is to be low, and whether it was met."""
    return f"goal ≤ {limit:,g} {unit}: {_verdict(found <= limit)}"


def at_least(found: float, limit: float, unit: str) -> str:
    """The goal for a figure that is to be high, and whether it was met."""
    return f"goal ≥ {limit:,g} {unit}: {_verdict(found >= limit)}"


def _verdict(met: bool) -> str:
    return "met" if met else "missed"
