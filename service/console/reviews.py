"""Reviews: what waits for somebody, and what can be done with a revision: tried, talked about, decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from flask import render_template
from sqlmodel import Session
from werkzeug.wrappers import Response

from policies.errors import InvalidField
from policies.revision import PERSONAL, TRANSITIONS, Kind, State, Step
from service import clock
from service.console.forms import done, said
from service.console.own_apps import own_apps, reader, seen_revision
from service.console.visitor import visitor
from service.context import services
from service.live import release_asked
from service.releasing import quarantines, reviewing
from service.releasing.revisions import advance
from service.simulating.drafts import Draft
from service.simulating.simulations import Asked
from service.simulating.trying import tried
from service.store import reviews, revisions, rollouts, simulation_runs
from service.store.people import one_user
from service.store.tables import RevisionCommentRow, RevisionRow, RevisionSimulationRow, SimulationRunRow
from service.web.bodies import MAX_NOTE
from service.web.door import actor, check_app

DECIDED_SHOWN: Final = 20


@dataclass(frozen=True)
class Review:
    """Everything beside the revision itself that its page shows. `run`: the last time that it was simulated.

    `steps` are those that its state allows. `own`: the visitor wrote it and may not approve it. `touched`: the visitor has
    all apps that it concerns; else its steps are not theirs, and what it would do to other apps is not shown.
    """

    comments: list[RevisionCommentRow]
    simulation: RevisionSimulationRow | None
    run: SimulationRunRow | None
    steps: frozenset[Step]
    own: bool
    touched: bool
    goes_live: str


def review_of(session: Session, row: RevisionRow) -> Review:
    """The review of a stored revision."""
    who, number, touched = visitor(), row.number or 0, reader().touches(row.app)
    return Review(
        comments=reviews.comments(session, number),
        simulation=reviews.newest_simulation(session, number) if touched else None,
        run=simulation_runs.newest_of(session, number, clock.now()) if touched else None,
        steps=frozenset(step for state, step in TRANSITIONS if touched and state == row.state and step in PERSONAL),
        touched=touched,
        own=who is not None and who.actor.name == row.author and not one_user(session),
        goes_live=_goes_live(session, row),
    )


_WHEN: Final = {
    State.DRAFT: "Submit it first: a draft changes nothing.",
    State.IN_REVIEW: "Once approved, it goes live with the next release that somebody publishes or rolls out.",
    State.APPROVED: "It goes live with the next release that somebody publishes or rolls out.",
}
_AT_ONCE: Final = "Once approved, it goes live at once, within a second, also into a rollout."
_HELD: Final = " A rollout is going on: nothing else is published before its end."


def _goes_live(session: Session, row: RevisionRow) -> str:
    """What becomes of it, and when; "" for what has been decided otherwise or is live."""
    state = State(row.state)
    if row.kind == Kind.QUARANTINE and state is State.IN_REVIEW:
        return _AT_ONCE
    told = _WHEN.get(state, "")
    return told + _HELD if told and state is not State.DRAFT and rollouts.active(session) else told


def list_page() -> str:
    """What waits for a review, the oldest first, and what was decided last."""
    with Session(services().engine) as session:
        waiting = revisions.waiting(session, own_apps())
        numbers = [row.number for row in waiting if row.number is not None and reader().touches(row.app)]
        found, said_of = reviews.newest_simulations(session, numbers), reviews.comments_of(session, numbers)
        decided = revisions.decided(session, DECIDED_SHOWN, own_apps())
        alone = one_user(session)
    return render_template(
        "console/reviews.html", waiting=waiting, found=found, said_of=said_of, decided=decided, alone=alone
    )


def submit(number: int) -> Response:
    """Send a draft to whoever reviews it, with what it would change as evidence."""
    note = _note()
    with Session(services().engine) as session:
        row = _touched(session, number)
        kind, content = Kind(row.kind), row.content
    found = None if kind == Kind.FLAGS else tried(services().simulations, kind, content, actor().name)[0]
    return _stepped(number, Step.SUBMIT, "waits for a review", note, found)


def withdraw(number: int) -> Response:
    """Take a revision back."""
    return _stepped(number, Step.WITHDRAW, "is withdrawn", _note())


def approve(number: int) -> Response:
    """Say yes. What is approved goes live with the next release, a quarantine at once."""
    return _stepped(number, Step.APPROVE, "is approved", said("note", MAX_NOTE) or None)


def reject(number: int) -> Response:
    """Say no, and why."""
    return _stepped(number, Step.REJECT, "is rejected", _note())


def _touched(session: Session, number: int) -> RevisionRow:
    """A revision that the visitor may do something with; raises UnknownRevision and NotAllowed."""
    row = seen_revision(session, number)
    check_app(row.app)
    return row


def _note() -> str:
    note = said("note", MAX_NOTE)
    if not note:
        raise InvalidField("say why: nothing was done", field="note")
    return note


def _stepped(number: int, step: Step, what: str, note: str | None, found: dict[str, Any] | None = None) -> Response:
    """Take the step, with what was found as evidence."""
    name, now = actor().name, clock.now()
    with Session(services().engine) as session, session.begin():
        row = _touched(session, number)
        if row.kind == Kind.QUARANTINE and step is Step.APPROVE:
            quarantines.approve(session, row, name, now, note or "")
        else:
            advance(session, row, step, name, now, note)
        if found is not None:
            reviewing.keep_simulation(session, row, found, name, now)
    return done(f"Revision {number} {what}.", "revision", number=number)


def comment(number: int) -> Response:
    """Say something about a revision."""
    with Session(services().engine) as session, session.begin():
        _touched(session, number)
        reviewing.comment(session, number, said("text", reviewing.MOST_CHARACTERS), actor().name, clock.now())
    return done("Said.", "revision", number=number)


def simulate(number: int) -> Response:
    """Begin to try a revision on the fleet as it is now; what is found is kept with it. Raises UnknownRelease, InvalidField."""
    now, name, engine = clock.now(), actor().name, services().engine
    with Session(services().engine) as session:
        row = _touched(session, number)
        draft = Draft(Kind(row.kind), row.content)

    def keep(found: dict[str, Any]) -> None:
        with Session(engine) as session, session.begin():
            reviewing.keep_simulation(session, revisions.revision(session, number), found, name, now)

    services().simulations.begin(Asked(draft, release_asked(None), now, by=name, revision=number), keep)
    return done("It is simulated; what is found is kept with the revision.", "revision", number=number)
