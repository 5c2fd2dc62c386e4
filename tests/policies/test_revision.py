"""The life of a revision as a table: what leads where, and that nothing else does (R-F1)."""

from __future__ import annotations

from itertools import product

import pytest

from policies.errors import SelfApproval, WrongState
from policies.revision import ACCEPTED, PERSONAL, STANDING, TRANSITIONS, State, Step, after, check_approver


@pytest.mark.parametrize(("state", "step"), list(product(State, Step)))
def test_a_step_leads_where_the_table_says_and_nowhere_else(state: State, step: Step) -> None:
    if (state, step) in TRANSITIONS:
        assert after(state, step) is TRANSITIONS[state, step]
    else:
        with pytest.raises(WrongState):
            after(state, step)


def test_nothing_goes_live_that_nobody_approved() -> None:
    before_live = {state for (state, _), follows in TRANSITIONS.items() if follows is State.LIVE}
    before_approved = {(state, step) for (state, step), follows in TRANSITIONS.items() if follows is State.APPROVED}
    assert before_live == {State.APPROVED, State.REPLACED, State.ROLLED_BACK}
    assert before_approved == {(State.IN_REVIEW, Step.APPROVE)}


@pytest.mark.parametrize("state", [State.REJECTED, State.WITHDRAWN, State.ENDED])
def test_what_was_turned_down_never_comes_back(state: State) -> None:
    assert state not in STANDING | ACCEPTED
    assert [step for at, step in TRANSITIONS if at is state] == []


def test_a_person_can_neither_publish_nor_restore_a_single_revision() -> None:
    assert set(PERSONAL) == {Step.SUBMIT, Step.APPROVE, Step.REJECT, Step.WITHDRAW}


def test_an_author_approves_only_where_nobody_else_could() -> None:
    assert check_approver("anna", "anna", one_user=True) is True
    assert check_approver("anna", "ben", one_user=False) is False
    with pytest.raises(SelfApproval):
        check_approver("anna", "anna", one_user=False)
