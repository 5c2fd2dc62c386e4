"""What a document or the bundled default gives an app at the moment (R-G2)."""

from __future__ import annotations

from typing import Any

import pytest
from sdk_builders import CPU, DEFAULT, GPU, NPU, FakeServer, make_client, make_document, make_model, split

from nnfleet_client import AssignedBy, InvalidDefaultError, InvalidUnitIdError, Reason, UnknownModelError


def test_deciding_never_touches_the_network() -> None:
    server = FakeServer()
    client = make_client(server)
    client.decision("segmentation")
    assert server.calls == []


def test_before_the_first_answer_the_bundled_default_serves() -> None:
    plan = make_client().decision("segmentation")
    assert [rung.arm_id for rung in plan.ladder] == [CPU]
    assert (plan.reason, plan.error_code, plan.release) == (Reason.DEFAULT, "no-document", 0)
    assert (plan.propensity, plan.assigned_by) == (1.0, AssignedBy.DEFAULT)


def test_a_model_that_the_document_leaves_out_is_served_by_the_default() -> None:
    server = FakeServer(document=make_document(models={}))
    client = make_client(server)
    client.refresh()
    plan = client.decision("segmentation")
    assert (plan.reason, plan.error_code) == (Reason.DEFAULT, "unknown-model")


def test_a_model_that_nobody_knows_is_the_apps_mistake() -> None:
    with pytest.raises(UnknownModelError):
        make_client().decision("translation")


def test_a_moment_that_no_situation_covers_is_served_by_the_default() -> None:
    model = make_model(situations=[{"when": {"workload": "burst"}, "plan": "main"}])
    client = make_client(FakeServer(document=make_document(model)))
    client.refresh()
    assert client.decision("segmentation").error_code == "no-situation"
    assert client.decision("segmentation", workload="burst").error_code is None


def test_the_plan_of_the_moment_is_chosen_by_workload_and_heat() -> None:
    plans = {
        name: make_model([split(10_000, first, CPU)])["plans"]["main"] for name, first in (("main", NPU), ("cool", GPU))
    }
    hot = {"workload": "sustained", "thermal_at_least": "moderate"}
    model = make_model(plans=plans, situations=[{"when": hot, "plan": "cool"}, {"when": {}, "plan": "main"}])
    client = make_client(FakeServer(document=make_document(model)))
    client.refresh()
    assert client.decision("segmentation", workload="sustained", thermal="severe").name == "cool"
    assert client.decision("segmentation", workload="burst", thermal=3).name == "main"


def test_a_split_is_served_with_its_bucket_and_its_chance() -> None:
    model = make_model([split(9_800, NPU, CPU), split(200, GPU, CPU, explore=True)])
    client = make_client(FakeServer(document=make_document(model)))
    client.refresh()
    plan = client.decision("segmentation")
    assert (plan.bucket, plan.split_index, plan.propensity) == (565, 0, 0.98)
    assert (plan.assigned_by, plan.explore) == (AssignedBy.BUCKET, False)


def test_without_a_unit_id_the_answer_says_so_and_is_certain() -> None:
    model = make_model([split(200, GPU, CPU, explore=True), split(9_800, NPU, CPU)])
    client = make_client(FakeServer(document=make_document(model)), unit_id=None)
    client.refresh()
    plan = client.decision("segmentation")
    assert (plan.assigned_by, plan.ladder[0].arm_id, plan.propensity) == (AssignedBy.NO_UNIT, NPU, 1.0)


def test_a_hash_of_the_future_assigns_nobody_where_a_draw_is_needed() -> None:
    future = {"salt": "seg-7", "hash": "murmur3-32/2"}
    model = make_model(plans={"main": {**future, "splits": [split(5_000, NPU, CPU), split(5_000, CPU)]}})
    client = make_client(FakeServer(document=make_document(model)))
    client.refresh()
    assert client.decision("segmentation").error_code == "unknown-hash"


def test_a_hash_of_the_future_does_not_matter_to_a_whole_share() -> None:
    model = make_model(plans={"main": {"salt": "s", "hash": "murmur3-32/2", "splits": [split(10_000, NPU, CPU)]}})
    client = make_client(FakeServer(document=make_document(model)))
    client.refresh()
    assert client.decision("segmentation").reason is Reason.FRESH


def test_advice_and_flush_interval_come_from_the_document() -> None:
    document = make_document(advice=[{"code": "driver-off"}], telemetry={"sample": 1.0, "flush_s": 120})
    client = make_client(FakeServer(document=document))
    assert (list(client.advice), client.flush_s) == ([], 3_600)
    client.refresh()
    assert (list(client.advice), client.flush_s) == ([{"code": "driver-off"}], 120)


def test_what_another_probe_should_find_out_comes_from_the_document() -> None:
    client = make_client(FakeServer(document=make_document(probe=["runtimes.neuron"])))
    assert list(client.probe) == []
    client.refresh()
    assert list(client.probe) == ["runtimes.neuron"]


@pytest.mark.parametrize("default", [{}, {"segmentation": {}}])
def test_a_client_without_a_default_for_its_models_is_refused(default: dict[str, Any]) -> None:
    with pytest.raises(InvalidDefaultError):
        make_client(default=default)


def test_a_unit_id_with_control_characters_is_refused_at_the_border() -> None:
    with pytest.raises(InvalidUnitIdError):
        make_client(unit_id="unit\n1")


def test_changing_the_apps_own_default_afterwards_changes_nothing() -> None:
    mine = {"segmentation": {CPU: dict(DEFAULT["segmentation"][CPU])}}
    client = make_client(default=mine)
    mine["segmentation"].clear()
    assert client.decision("segmentation").ladder[0].arm_id == CPU
