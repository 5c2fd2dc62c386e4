"""Revisions: every change of what devices see is an immutable proposal that walks through states.

A revision's content never changes; a changed proposal is another revision. `TRANSITIONS` is the whole machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from policies.errors import SelfApproval, WrongState


class Kind(StrEnum):
    """What a revision is of."""

    POLICY = "policy"
    MODEL = "model"
    RECOMMENDATION = "recommendation"
    QUARANTINE = "quarantine"
    FLAGS = "flags"


class State(StrEnum):
    """Where a revision stands. Stored: never rename one."""

    DRAFT = "draft"
    IN_REVIEW = "in-review"
    APPROVED = "approved"
    LIVE = "live"
    REPLACED = "replaced"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    ROLLED_BACK = "rolled-back"
    ENDED = "ended"


class Step(StrEnum):
    """What happens to a revision. The first four are a person's, the others follow from releases and quarantines."""

    SUBMIT = "submit"
    APPROVE = "approve"
    REJECT = "reject"
    WITHDRAW = "withdraw"
    PUBLISH = "publish"
    REPLACE = "replace"
    ROLL_BACK = "roll-back"
    RESTORE = "restore"
    END = "end"


PERSONAL: Final = (Step.SUBMIT, Step.APPROVE, Step.REJECT, Step.WITHDRAW)

TRANSITIONS: Final[Mapping[tuple[State, Step], State]] = {
    (State.DRAFT, Step.SUBMIT): State.IN_REVIEW,
    (State.DRAFT, Step.WITHDRAW): State.WITHDRAWN,
    (State.IN_REVIEW, Step.APPROVE): State.APPROVED,
    (State.IN_REVIEW, Step.REJECT): State.REJECTED,
    (State.IN_REVIEW, Step.WITHDRAW): State.WITHDRAWN,
    (State.APPROVED, Step.WITHDRAW): State.WITHDRAWN,
    (State.APPROVED, Step.PUBLISH): State.LIVE,
    (State.APPROVED, Step.REPLACE): State.REPLACED,
    (State.APPROVED, Step.ROLL_BACK): State.ROLLED_BACK,
    (State.APPROVED, Step.END): State.ENDED,
    (State.LIVE, Step.REPLACE): State.REPLACED,
    (State.LIVE, Step.ROLL_BACK): State.ROLLED_BACK,
    (State.LIVE, Step.END): State.ENDED,
    (State.REPLACED, Step.RESTORE): State.LIVE,
    (State.ROLLED_BACK, Step.RESTORE): State.LIVE,
}

ACCEPTED: Final = frozenset({State.APPROVED, State.LIVE})
"""What the next release carries: the newest of these, for every subject."""
STANDING: Final = ACCEPTED | {State.DRAFT, State.IN_REVIEW}
"""What the next edit builds on: an edit names the newest of these as its base, or is told of it."""


def after(state: State, step: Step) -> State:
    """The state that follows; raises WrongState naming what can be done instead."""
    follows = TRANSITIONS.get((state, step))
    if follows is None:
        possible = ", ".join(sorted(s for at, s in TRANSITIONS if at is state)) or "nothing"
        raise WrongState(f"{step}: a revision that is {state} allows {possible}", field="step")
    return follows


def check_approver(author: str, approver: str, *, one_user: bool) -> bool:
    """Whether the author approves their own work; raises SelfApproval where somebody else could."""
    if author != approver:
        return False
    if not one_user:
        raise SelfApproval(f"{author} wrote this revision: somebody else has to approve it")
    return True
