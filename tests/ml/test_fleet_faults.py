"""The planted faults: where they are, and what they look like from outside."""

import json

import numpy as np
import pytest

from ml.fleet import Fleet, Phone, build_fleet, delivery
from ml.fleet.editions import editions
from ml.fleet.modelled import ModelledBench
from ml.fleet.models import CAMERA_MODELS
from ml.fleet.socs import modelled_socs

SOCS = {soc.name: soc for soc in modelled_socs()}


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    return build_fleet(devices=2000, seed=11, models=10)


def run(bench, model, arm, session_minute=0.0, seed=0):
    phone = Phone("u", b"", "soc", "soc", "modelled", "class", (("camera", model),), (), bench)
    return phone.execution("camera", model, arm, np.random.default_rng(seed), session_minute)


def test_each_fault_is_on_enough_phones(fleet):
    for fault in fleet.faults:
        assert fault.phones == sum(fault.name in phone.faults for phone in fleet.phones)
        assert fault.phones >= 0.015 * len(fleet.phones), fault.name
        assert fault.phones <= 0.05 * len(fleet.phones), fault.name


@pytest.mark.parametrize("seed", range(3))
def test_a_fleet_of_300_has_some_of_each_fault(seed):
    small = build_fleet(devices=300, seed=seed, models=3)
    assert min(fault.phones for fault in small.faults) >= 4


def test_a_phantom_accelerator_claims_everything_and_takes_the_time_of_the_cpu():
    bench = ModelledBench(SOCS["exynos-1380"], 34)
    npu, cpu = (bench.truth("camera", "efficientnet-lite0", f"int8.tflite.{end}") for end in ("nnapi.enn", "cpu"))
    assert npu.executed_by == "TfLiteNnapiDelegate:enn"
    assert npu.delegated_nodes == npu.total_nodes
    assert npu.steady_us == pytest.approx(cpu.steady_us, rel=0.1)
    assert npu.acceptable
    healthy = ModelledBench(SOCS["exynos-2400"], 34)
    npu, cpu = (healthy.truth("camera", "efficientnet-lite0", f"int8.tflite.{end}") for end in ("nnapi.enn", "cpu"))
    assert npu.steady_us < 0.7 * cpu.steady_us


def test_ignored_zero_points_are_fast_and_wrong():
    bench = ModelledBench(SOCS["mt6833"], 30)
    wrong = run(bench, "efficientnet-lite0", "int8.tflite.nnapi.mtk-neuron")
    assert (wrong.golden_checks, wrong.golden_passed) == (2, 0)
    assert wrong.golden_max_rel_error > 0.2
    assert bench.truth("camera", "efficientnet-lite0", "int8.tflite.nnapi.mtk-neuron").acceptable is False
    right = run(bench, "efficientnet-lite0", "fp32.tflite.nnapi.mtk-neuron")
    assert right.golden_passed == right.golden_checks
    newer = run(ModelledBench(SOCS["mt6833"], 33), "efficientnet-lite0", "int8.tflite.nnapi.mtk-neuron")
    assert newer.golden_passed == newer.golden_checks, "Android 13 brought another driver"


def test_heat_comes_in_one_step_after_five_minutes():
    bench = ModelledBench(SOCS["tensor-g3"], 34)
    arm = "int8.tflite.nnapi.google-edgetpu"
    cool, late, hot = (
        [run(bench, "efficientnet-lite0", arm, minute, seed) for seed in range(60)] for minute in (0.0, 4.9, 5.1)
    )
    times = [np.median([np.median(window.runs_us) for window in windows]) for windows in (cool, late, hot)]
    assert times[1] / times[0] == pytest.approx(1.0, rel=0.05)
    assert times[2] / times[0] == pytest.approx(1.8, rel=0.1)
    assert {window.thermal_status_after for window in hot} == {2}
    assert {window.thermal_status_after for window in [*cool, *late]} == {0}


def test_heat_changes_the_best_arm_of_some_models():
    bench = ModelledBench(SOCS["tensor-g3"], 34)
    changed = set()
    for model in CAMERA_MODELS:
        truths = {arm: bench.truth("camera", model, arm) for arm in bench.arms("camera", model)}
        able = [arm for arm, truth in truths.items() if truth.acceptable]
        burst, sustained = (min(able, key=lambda arm, w=w: truths[arm].expected_us(w)) for w in ("burst", "sustained"))
        changed |= {model} if burst != sustained else set()
    assert changed


def test_a_crashing_driver_leaves_an_attempt_and_no_window():
    bench = ModelledBench(SOCS["mt6878"], 34)
    for arm in ("int8.tflite.nnapi.mtk-neuron", "fp32.tflite.nnapi.mtk-neuron_shim"):
        crashed = run(bench, "mobilenet-v2", arm)
        assert crashed.failure == "process_died"
        assert not crashed.runs_us.size
        assert crashed.golden_checks == 0
    assert run(bench, "mobilenet-v2", "int8.tflite.nnapi.mtk-mdla").failure is None


def test_a_conjunction_of_precision_driver_version_and_operation_crashes_and_nothing_wider():
    arm = "int8.tflite.nnapi.qti-default"
    android12, android13 = (ModelledBench(SOCS["sm8350"], api) for api in (31, 33))
    assert run(android12, "palm-detector", arm).failure == "process_died"
    assert run(android12, "palm-detector", "fp32.tflite.nnapi.qti-default").failure is None
    assert run(android12, "palm-detector", "int8.tflite.nnapi.qti-dsp").failure is None
    assert run(android12, "mobilenet-v2", arm).failure is None, "no CONCATENATION in it"
    assert run(android13, "palm-detector", arm).failure is None


def test_a_hanging_gpu_times_out():
    bench = ModelledBench(SOCS["tensor-g5"], 35)
    assert run(bench, "mobilenet-v2", "fp16.tflite.gpu").failure == "timeout"
    assert run(bench, "mobilenet-v2", "fp16.tflite.cpu").failure is None


def test_a_runtime_that_does_not_know_a_sibling_refuses_every_graph_there_and_none_on_the_others():
    """FP-07: the same SoC by name, another number."""
    usual, sibling = (ModelledBench(SOCS["sm8550"], 34, edition) for edition in editions("sm8550"))
    for model in ("mobilenet-v2", "iris"):
        assert run(sibling, model, "int8.tflite.qnn").failure == "compile_failed"
        assert run(usual, model, "int8.tflite.qnn").failure is None
        assert run(sibling, model, "int8.tflite.gpu").failure is None


def test_a_newer_runtime_takes_twice_as_long_on_the_cpu_and_no_longer_elsewhere():
    """RG-04: a library that a store updates under the app."""
    before, after = (ModelledBench(SOCS["mt6768"], 33, edition) for edition in editions("mt6768"))
    for end, factor in (("cpu", 2.0), ("gpu", 1.0)):
        old, new = (bench.truth("camera", "mobilenet-v2", f"int8.tflite.{end}") for bench in (before, after))
        assert new.steady_us == pytest.approx(factor * old.steady_us)
        assert new.acceptable


def test_editions_show_in_reports_and_nowhere_else(fleet):
    told = {phone.soc: set() for phone in fleet.phones}
    for phone in fleet.phones:
        body = json.loads(phone.report)
        told[phone.soc].add((body["device"].get("soc_id"), body["runtimes"].get("litert")))
    assert told.pop("sm8550") == {(519, None), (536, None)}
    assert told.pop("mt6768") == {(None, "loaded 2.11.0"), (None, "loaded 2.12.0")}
    assert set().union(*told.values()) == {(None, None)}


def test_int8_that_loses_too_much_accuracy_is_no_candidate():
    bench = ModelledBench(SOCS["sm8650"], 35)
    assert not bench.truth("camera", "pose-landmarks", "int8.tflite.qnn").acceptable
    assert bench.truth("camera", "pose-landmarks", "fp16.tflite.qnn").acceptable


def test_faults_leave_every_unit_an_acceptable_arm(fleet):
    for phone in fleet.phones:
        for app, model in phone.models_in_use:
            assert fleet.best(phone, app, model, "burst")[1] > 0


def test_arms_answer_to_the_canonical_and_to_the_listed_name_of_a_driver():
    bench = ModelledBench(SOCS["mt6899"], 35)
    one, two = (
        bench.truth("camera", "iris", f"int8.tflite.nnapi.{name}") for name in ("mtk-neuron", "mtk-neuron_shim")
    )
    assert one == two
    assert one.executed_by == "TfLiteNnapiDelegate:mtk-neuron_shim"


def test_partial_coverage_int8_against_fp16_and_losing_accelerators_all_occur(fleet):
    partial = slower_than_cpu = int8_slower = int8_faster = 0
    for phone in fleet.phones:
        for app, model in phone.models_in_use if phone.kind == "modelled" else ():
            truths = {arm: phone.bench.truth(app, model, arm) for arm in fleet.arms(phone, app, model)}
            for arm, truth in truths.items():
                precision, _, end = arm.partition(".tflite.")
                if "nnapi" not in end or not truth.delegated_nodes:
                    continue
                partial += truth.delegated_nodes < truth.total_nodes
                slower_than_cpu += truth.steady_us > truths[f"{precision}.tflite.cpu"].steady_us
                other = truths.get(f"fp16.tflite.{end}")
                if precision == "int8" and other is not None and other.delegated_nodes:
                    int8_slower += truth.steady_us > 1.1 * other.steady_us
                    int8_faster += truth.steady_us < other.steady_us / 1.1
    assert min(partial, slower_than_cpu, int8_slower, int8_faster) > 100


def test_telemetry_arrives_late_sometimes_twice_and_seldom_with_a_wrong_clock():
    rng = np.random.default_rng(0)
    drawn = [delivery(rng) for _ in range(20_000)]
    assert np.mean([d.delay_s <= 2 * 86_400 for d in drawn]) == pytest.approx(0.95, abs=0.01)
    assert np.mean([d.duplicate for d in drawn]) == pytest.approx(0.01, abs=0.004)
    off = [abs(d.clock_offset_s) for d in drawn]
    assert np.mean([o > 3600 for o in off]) == pytest.approx(0.01, abs=0.004)
    assert 0 < np.mean([o > 86_400 for o in off]) < 0.003
