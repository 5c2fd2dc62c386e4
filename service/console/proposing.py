"""A change that somebody states in an editor, on its way to a revision."""

from __future__ import annotations

from typing import Any

from sqlmodel import Session

from policies.revision import Kind, Step
from service import clock
from service.context import services
from service.releasing.reviewing import keep_simulation
from service.releasing.revisions import Proposal, advance, save
from service.simulating.trying import tried
from service.web.door import actor


def proposed(proposal: Proposal, *, submit: bool) -> int | None:
    """Save a draft, and with `submit` send it to review with what it would change; returns its number.

    Raises EditConflict and BaseRequired.
    """
    found = _evidence(proposal) if submit else None
    name, now = actor().name, clock.now()
    with Session(services().engine) as session, session.begin():
        row = save(session, proposal, name, now)
        if submit:
            advance(session, row, Step.SUBMIT, name, now)
        if found is not None:
            keep_simulation(session, row, found, name, now)
        return row.number


def _evidence(proposal: Proposal) -> dict[str, Any] | None:
    """Plain flags are not simulated: what they do is the app's."""
    if proposal.kind == Kind.FLAGS:
        return None
    return tried(services().simulations, proposal.kind, proposal.content, actor().name)[0]
