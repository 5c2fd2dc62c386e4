"""Siblings share a SoC's name and not its number: rules and denies tell them apart, by name, family, number and version."""

from __future__ import annotations

from typing import Any

import pytest
from builders import deny, make_document, make_fingerprint, make_model, make_variant

from policies.decide import decide_model
from policies.errors import InvalidField
from policies.fingerprint import Fingerprint
from policies.knowledge import Knowledge

QNN = "int8.dlc.qnn"
FAILING = 'device.runtimes.qnn.version == "2.48.0"'


def sibling(number: int | None = 639, runtime: str = "2.48.0", soc: str = "SM8750P") -> Fingerprint:
    return make_fingerprint(device={"soc_model": soc, "soc_id": number}, runtimes={"qnn": f"loaded {runtime}"})


def runs(phone: Fingerprint, **stated: Any) -> bool:
    """Whether the phone may run a model through its vendor's runtime."""
    document = make_document(denies=[deny("q1", "*.qnn", **stated)])
    decided = decide_model(phone, document, make_model(variants=[make_variant("int8", "dlc")]), Knowledge())
    return QNN in decided.arms


def test_a_failure_on_one_sibling_is_denied_to_it_and_to_no_other() -> None:
    """FP-07: the number 639 with one version of the runtime; neither the family nor the next version."""
    cohort = {"socs": ["SM8750P"], "soc_ids": [639]}
    assert not runs(sibling(), cohort=cohort, when=FAILING)
    assert runs(sibling(618), cohort=cohort, when=FAILING)
    assert runs(sibling(runtime="2.50.1"), cohort=cohort, when=FAILING)
    assert runs(sibling(None), cohort=cohort, when=FAILING)
    assert not runs(sibling(runtime="2.50.1"), cohort=cohort)


@pytest.mark.parametrize(
    ("when", "hit"),
    [
        ('device.soc == "sm8750p"', {639, 618}),
        ('device.soc.startsWith("sm8750")', {639, 618, 705}),
        ('device.soc in ["sm8750p", "sm8650"]', {639, 618}),
        ("device.soc_id == 639", {639}),
        ('device.soc_id in [639, 705] && dotted(device.runtimes.qnn.version, ">= 2.42")', {639, 705}),
    ],
)
def test_conditions_ask_for_the_name_the_family_and_the_number_apart(when: str, hit: set[int]) -> None:
    phones = [sibling(639), sibling(618), sibling(705, soc="SM8750S"), sibling(None, soc="SM8350")]
    assert {phone.soc_id for phone in phones if not runs(phone, when=when)} == hit


def test_siblings_are_classes_and_driver_stacks_of_their_own() -> None:
    phones = [sibling(), sibling(618), sibling(runtime="2.50.1")]
    assert len({phone.device_class for phone in phones}) == len({phone.driver_stack for phone in phones}) == 3


def test_a_number_that_no_soc_can_have_is_refused() -> None:
    with pytest.raises(InvalidField, match="soc_ids"):
        make_document(denies=[deny("q1", "*.qnn", cohort={"soc_ids": [-1]})])
