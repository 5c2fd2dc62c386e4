"""Versions are compared by their declared scheme, as numbers and never as texts."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.language.versions import SCHEMES, version_range

SEMVER_IN_ORDER = (
    "1.0.0-1234", "1.0.0-2345", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.9", "1.0.0-alpha.10", "1.0.0-alpha.beta",
    "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1", "1.2.0", "1.10.0", "2.0.0",
)  # fmt: skip


@pytest.mark.parametrize(("older", "newer"), list(pairwise(SEMVER_IN_ORDER)))
def test_semantic_versions_have_the_precedence_of_semver_2(older, newer):
    assert version_range("semver", f"< {newer}").holds(older) is True
    assert version_range("semver", f">= {newer}").holds(older) is False


@pytest.mark.parametrize(
    ("scheme", "wanted", "version", "holds"),
    [
        ("semver", "1.0.0", "1.0.0+build.7", True),
        ("semver", ">= 1.0.0", "1.0", None),
        ("semver", ">= 1.0.0", "01.0.0", None),
        ("dotted", ">= 9", "28", True),
        ("dotted", "> 1.9", "1.10", True),
        ("dotted", "== 1.2", "1.2.0", True),
        ("dotted", "!= 1.2", "1.2", False),
        ("dotted", "0", "0.0", True),
        ("dotted", ">= 512.530, < 600", "512.800.3", True),
        ("dotted", ">= 512.530, < 600", "600", False),
        ("dotted", ">= 1", "V@1", None),
        ("dotted", ">= 1", "١", None),
        ("build", ">= 7463", "26.20.100.7463", True),
        ("build", "> 9", "AP3A.240905.015", True),
        ("build", "> 9", "release-keys", None),
        ("build", "> 9", "9" * 200, None),
    ],
)
def test_a_range_keeps_to_its_scheme_and_what_is_none_of_it_is_unknown(scheme, wanted, version, holds):
    assert version_range(scheme, wanted).holds(version) is holds


@pytest.mark.parametrize("wanted", ["", ",", ">=", ">= x", "=> 1", "1 2", "1,", "1" * 129])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_range_that_cannot_be_read_is_refused(scheme, wanted):
    with pytest.raises(ValueError, match="a "):
        version_range(scheme, wanted)


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=6), st.lists(st.integers(0, 10**6), min_size=1, max_size=6))
def test_dotted_numbers_are_ordered_as_lists_of_numbers(one, other):
    newer = version_range("dotted", "> " + ".".join(map(str, one))).holds(".".join(map(str, other)))
    length = max(len(one), len(other))
    assert newer is (other + [0] * (length - len(other)) > one + [0] * (length - len(one)))
