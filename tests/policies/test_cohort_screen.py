"""A window against its cohort: wrong by a thousand, or too good to be true (R-D7)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.cohort_screen import Expected, cohort_reason


def reason(p50_us: float, *, checked: bool = False, **expected: float) -> str | None:
    return cohort_reason(p50_us, Expected(**expected), checked=checked)


@pytest.mark.parametrize(
    ("p50_us", "expected"),
    [
        (40.0, "unit-suspect"),
        (40_000_000.0, "unit-suspect"),
        (1_000.0, "too-good-to-be-true"),
        (2_001.0, None),
        (40_000.0, None),
        (4_000_000.0, None),
    ],
)
def test_a_measured_arm_vouches_against_what_is_far_from_it(p50_us: float, expected: str | None) -> None:
    assert reason(p50_us, arm_p50_us=40_000.0) == expected
    assert reason(p50_us, arm_p50_us=40_000.0, checked=True) == expected


def test_an_arm_that_returns_its_input_unchanged_is_too_quick_beside_the_cpu() -> None:
    assert reason(90.0, fastest_p50_us=8_000.0) == "too-good-to-be-true"


def test_a_passed_golden_check_vouches_for_an_arm_that_nobody_has_measured() -> None:
    assert reason(90.0, fastest_p50_us=8_000.0, checked=True) is None


@given(st.floats(5, 6e8), st.booleans())
def test_where_nothing_is_known_nothing_is_set_aside(p50_us: float, checked: bool) -> None:
    assert reason(p50_us, checked=checked) is None


@given(st.floats(5, 1e6), st.floats(0.06, 400))
def test_what_phones_of_one_class_differ_by_is_never_set_aside(arm_p50_us: float, ratio: float) -> None:
    assert reason(arm_p50_us * ratio, arm_p50_us=arm_p50_us) is None
