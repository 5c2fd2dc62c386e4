"""Coverage of an arm before it ran: measured on this driver, else mapped by its level, else unknown."""

from __future__ import annotations

import pytest
from builders import chain, make_accelerator, make_variant

from policies.arm import Arm
from policies.arm_coverage import arm_coverage, arm_coverages
from policies.default_rule import UNKNOWN_COVERAGE, ArmCoverage
from policies.model import Variant
from policies.vocabulary import Delegate

GRAPH = chain("CONV_2D", "CONV_2D", "SOFTMAX", "CONV_2D").to_json()


def nnapi_arm(**driver: object) -> Arm:
    return Arm(Variant(**make_variant(graph=GRAPH)), Delegate.NNAPI, make_accelerator(**driver))


def test_what_was_measured_on_the_driver_goes_before_its_level() -> None:
    assert arm_coverage(nnapi_arm(level=7)) == ArmCoverage(0.75, 2, "measured")


def test_a_driver_that_was_not_asked_is_judged_by_its_level() -> None:
    assert arm_coverage(nnapi_arm(supports=None, level=7)) == ArmCoverage(1.0, 0, "mapped")


@pytest.mark.parametrize(
    "arm",
    [
        nnapi_arm(supports=None, level=None),
        Arm(Variant(**make_variant(graph=None)), Delegate.NNAPI, make_accelerator()),
        Arm(Variant(**make_variant(graph=GRAPH)), Delegate.GPU),
        Arm(Variant(**make_variant(graph=GRAPH)), Delegate.NNAPI, None),
    ],
    ids=["neither", "no graph", "another delegate", "no driver named"],
)
def test_where_nothing_is_known_nothing_is_said(arm: Arm) -> None:
    assert arm_coverage(arm) is UNKNOWN_COVERAGE
    assert arm_coverages([arm]) == {}
