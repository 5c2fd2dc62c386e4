"""Figures as readers write them."""

from __future__ import annotations

import pytest

from policies.figures import plain


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, "0"),
        (0.00123, "0.00123"),
        (0.8449, "0.845"),
        (42.06, "42.1"),
        (999.4, "999"),
        (999.6, "1,000"),
        (1449.7, "1,450"),
        (-12_345.0, "-12,300"),
        (3.2e9, "3,200,000,000"),
    ],
)
def test_three_digits_matter_and_no_large_number_is_a_power_of_ten(value: float, said: str) -> None:
    assert plain(value) == said


def test_as_many_digits_as_are_asked_for() -> None:
    assert [plain(1234.5, digits) for digits in (2, 4, 5)] == ["1,200", "1,234", "1,234.5"]
