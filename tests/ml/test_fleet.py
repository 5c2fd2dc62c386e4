"""The simulated fleet as the demo and the learner use it."""

import json

import numpy as np
import pytest

from ml.fleet import Fleet, Phone, build_fleet


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    return build_fleet(devices=300, seed=3, models=25)


def phones_of(fleet: Fleet, kind: str) -> list[Phone]:
    return [phone for phone in fleet.phones if phone.kind == kind]


def test_the_same_seed_gives_the_same_fleet(fleet):
    again = build_fleet(devices=300, seed=3, models=25)
    assert [p.unit_id for p in again.phones] == [p.unit_id for p in fleet.phones]
    assert [p.report for p in again.phones] == [p.report for p in fleet.phones]
    assert again.models == fleet.models


def test_another_seed_gives_other_units(fleet):
    other = build_fleet(devices=300, seed=4, models=25)
    assert not {p.unit_id for p in other.phones} & {p.unit_id for p in fleet.phones}


def test_four_phones_of_ten_are_measured(fleet):
    assert len(fleet.phones) == 300
    assert len(phones_of(fleet, "measured")) == 120


def test_every_phone_uses_two_to_four_models_it_can_run(fleet):
    registered = {(model["app"], model["name"]) for model in fleet.models}
    for phone in fleet.phones:
        assert 2 <= len(set(phone.models_in_use)) <= 4
        assert set(phone.models_in_use) <= registered
        assert all(fleet.arms(phone, app, model) for app, model in phone.models_in_use)


def test_the_best_arm_is_the_fastest_acceptable_one(fleet):
    for phone in fleet.phones[:60]:
        for app, model in phone.models_in_use:
            arm, latency_ms = fleet.best(phone, app, model, "burst")
            times = [fleet.true_latency_ms(phone, app, model, a, "burst") for a in fleet.arms(phone, app, model)]
            assert latency_ms == min(t for t in times if t is not None)
            assert fleet.true_latency_ms(phone, app, model, arm, "burst") == latency_ms


def test_windows_scatter_around_the_true_latency(fleet):
    rng = np.random.default_rng(0)
    phone = phones_of(fleet, "modelled")[0]
    app, model = phone.models_in_use[0]
    arm, latency_ms = fleet.best(phone, app, model, "burst")
    medians = [np.median(phone.execution(app, model, arm, rng).runs_us) for _ in range(400)]
    deviation = np.log(np.array(medians) / (latency_ms * 1e3))
    assert abs(np.median(deviation)) < 0.01
    assert 0.03 < np.quantile(np.abs(deviation), 0.68) < 0.08
    assert np.abs(deviation).max() > 0.2, "one window in twelve is rough"


def test_the_same_generator_gives_the_same_execution(fleet):
    phone = fleet.phones[0]
    app, model = phone.models_in_use[0]
    arm = fleet.arms(phone, app, model)[0]
    one, two = (phone.execution(app, model, arm, np.random.default_rng(7)) for _ in range(2))
    assert np.array_equal(one.runs_us, two.runs_us)
    assert (one.compile_us, one.cache_hit, one.first_run_us) == (two.compile_us, two.cache_hit, two.first_run_us)


def test_an_arm_that_does_not_exist_fails_to_compile(fleet):
    phone = fleet.phones[0]
    app, model = phone.models_in_use[0]
    execution = phone.execution(app, model, "int8.tflite.nnapi.nowhere", np.random.default_rng(0))
    assert execution.failure == "compile_failed"
    assert not execution.runs_us.size
    assert fleet.true_latency_ms(phone, app, model, "int8.tflite.nnapi.nowhere", "burst") is None


def test_models_serialise_as_json(fleet):
    assert json.loads(json.dumps(fleet.models)) == list(fleet.models)


@pytest.mark.parametrize("arguments", [{"devices": 0}, {"models": 0}])
def test_an_empty_fleet_is_refused(arguments):
    with pytest.raises(ValueError, match="at least one"):
        build_fleet(**arguments)
