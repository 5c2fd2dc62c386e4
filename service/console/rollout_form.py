"""The form that starts a rollout: steps, when it begins, and the hours in which it goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from flask import request

from policies.errors import InvalidField, InvalidInput
from policies.rollouts.local_time import LocalTime, parse_local_time
from policies.rollouts.rollout import RolloutPlan, parse_rollout_plan
from service.console.forms import MOST_NOTE, said, said_why

MOST_HOURS: Final = 2_000
FIELDS: Final = ("steps", "min_minutes", "min_windows", "hours", "start", "note")


@dataclass(frozen=True, slots=True)
class StartForm:
    """What was asked for; `at` None: now."""

    plan: RolloutPlan
    note: str
    at: LocalTime | None


def of_form() -> StartForm:
    """What was sent; raises InvalidField, or UnclearTime with the two moments that could be meant."""
    note = said_why()
    shares_bp = [_share_bp(part) for part in said("steps", MOST_NOTE).split(",") if part.strip()]
    minutes, windows = _number("min_minutes"), _number("min_windows")
    steps = [{"share_bp": share_bp, "min_minutes": minutes, "min_windows": windows} for share_bp in shares_bp]
    hours = [line for line in said("hours", MOST_HOURS).splitlines() if line.strip()]
    start = said("start", MOST_NOTE)
    at = parse_local_time(start, "start") if start else None
    return StartForm(parse_rollout_plan({"steps": steps, "hours": hours}), note, at)


def kept() -> dict[str, str]:
    """The fields as they were typed, for the form that comes back."""
    return {
        name: request.form.get(name, "") for name in ("steps", "min_minutes", "min_windows", "hours", "start", "note")
    }


def place(error: InvalidInput) -> str:
    """The field of the form that an error is of: `hours.0` → `hours`, `steps.0.min_minutes` → `min_minutes`."""
    path = (error.field or "").split(".")
    return next((name for name in (path[-1], path[0]) if name in FIELDS), "steps")


def _share_bp(text: str) -> int:
    """A share in percent as basis points."""
    try:
        return round(float(text.strip().removesuffix("%")) * 100)
    except (ValueError, OverflowError):
        raise InvalidField(f"steps: {text.strip()!r} is no share in percent", field="steps") from None


def _number(name: str) -> float:
    try:
        return float(said(name, MOST_NOTE))
    except ValueError:
        raise InvalidField(f"{name}: a number", field=name) from None
