"""A draft tried on the way to something else, which goes on without a simulation where none can be had."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policies.errors import InvalidField, UnknownRelease
from policies.revision import Kind
from service import clock
from service.live import release_asked
from service.simulating.drafts import Draft
from service.simulating.simulations import Asked, SimulationRunning, Simulations


def tried(
    simulations: Simulations, kind: Kind, content: Mapping[str, Any], by: str
) -> tuple[dict[str, Any] | None, str | None]:
    """(what would change, None), or (None, why that is not known). `by`: who waits for it."""
    try:
        return simulations.run(Asked(Draft(kind, content), release_asked(None), clock.now(), by=by)), None
    except (UnknownRelease, SimulationRunning, InvalidField) as error:
        return None, error.detail
