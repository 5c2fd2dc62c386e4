"""Whom a quarantine would touch: the cohort by its facts, and what each phone would get instead, on the stored fleet."""

from __future__ import annotations

from typing import Any, Final

from sqlmodel import Session

from policies.quarantine import Quarantine
from policies.revision import Kind
from service import clock
from service.context import services
from service.live import live_release
from service.releasing.suspects import drivers_of
from service.simulating.drafts import Draft
from service.simulating.simulations import Asked, SimulationRunning
from service.store import class_cohorts
from service.store.class_cohorts import Members
from service.web.door import actor

BUDGET_S: Final = 3.0
"""A person waits for it. What is not seen by then is told as a sample."""


def blast_radius(held: Quarantine) -> dict[str, Any]:
    """`cohort` and `fleet` as sizes, and `found`: the simulation's JSON; None where nothing is live, or another one runs."""
    members = Members(held.deny.cohort, drivers_of(held.deny.arms))
    with Session(services().engine) as session:
        fleet, [cohort] = class_cohorts.sizes(session, [members])
    return {"fleet": fleet, "cohort": cohort, "found": _simulated(held)}


def _simulated(held: Quarantine) -> dict[str, Any] | None:
    live = live_release()
    if live is None:
        return None
    draft = Draft(Kind.QUARANTINE, held.model_dump(mode="json"))
    try:
        return services().simulations.run(Asked(draft, live, clock.now(), BUDGET_S, actor().name))
    except SimulationRunning:
        return None
