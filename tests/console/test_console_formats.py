from __future__ import annotations

from datetime import timedelta

import pytest

from service.console.formats import MOST_CHARACTERS, basis_points, null_chance, span, stated


@pytest.mark.parametrize(
    ("seconds", "written"),
    [
        (0.0043, "4 ms"),
        (7.25, "7.2 s"),
        (59, "59 s"),
        (60, "1 min"),
        (200, "3 min 20 s"),
        (7_200, "2 h"),
        (100_000, "1 d 3 h"),
        (200_000_000, "2,314 d 19 h"),
    ],
)
def test_a_time_is_written_in_its_two_largest_units(seconds: float, written: str) -> None:
    assert span(timedelta(seconds=seconds)).replace("\u00a0", " ") == written


def test_a_share_that_is_not_there_is_a_dash() -> None:
    assert (basis_points(None), basis_points(500), basis_points(10_000)) == ("–", "5.0%", "100%")


def test_a_chance_is_never_a_power_of_ten_in_code() -> None:
    written = [null_chance(p_value).replace("\u00a0", " ") for p_value in (0.25, 0.00012, 2.27e-13)]
    assert written == ["p = 0.25", "p = 0.00012", "p < 10⁻⁴"]


def test_a_long_value_says_how_much_was_left_out() -> None:
    assert stated({"a": ["é"]}) == '{\n  "a": [\n    "é"\n  ]\n}'
    assert stated("x" * (MOST_CHARACTERS + 1_200)).endswith("x… and 1,200 characters more")
