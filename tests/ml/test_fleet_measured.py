"""Measured phones against the rows they stand on."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ml.datasets import aihub
from ml.fleet.aihub import aihub_models
from ml.fleet.measured import MeasuredBench

S24 = "qualcomm-snapdragon-8gen3"


@pytest.fixture(scope="module")
def bench() -> MeasuredBench:
    return MeasuredBench(S24, aihub_models())


@pytest.fixture(scope="module")
def rows() -> list[dict]:
    table = pq.read_table(Path(aihub.__file__).with_name("aihub.parquet")).to_pylist()
    formats = {"tflite", "onnx", "dlc", "qnn-context", "onnx-epcontext"}
    return [row for row in table if row["chipset"] == S24 and not row["is_llm"] and row["format"] in formats]


def by_model():
    return {model.name: model for model in aihub_models()}


def test_the_truth_of_an_arm_is_its_fastest_measured_job(bench, rows):
    models = by_model()
    fastest: dict[tuple[str, str], float] = {}
    for row in rows:
        key = (row["model"].replace("/", "."), row["arm"])
        fastest[key] = min(row["latency_ms"], fastest.get(key, float("inf")))
    assert len(fastest) > 900
    for (name, arm), latency_ms in fastest.items():
        truth = bench.truth(models[name].app, name, arm)
        assert truth is not None
        assert truth.expected_us("burst") == pytest.approx(latency_ms * 1e3)


def test_arms_are_the_measured_ones_and_those_of_cpu_and_gpu(bench):
    for app, name in bench.models:
        measured = set(by_model()[name].rows[S24])
        others = set(bench.arms(app, name)) - measured
        assert all(arm.endswith((".cpu", ".gpu")) for arm in others)
        assert measured <= set(bench.arms(app, name))


def test_cpu_and_gpu_are_never_faster_than_what_was_measured_in_the_same_arithmetic(bench):
    for app, name in bench.models:
        floats = [bench.truth(app, name, arm).steady_us for arm in by_model()[name].rows[S24] if arm.startswith("fp32")]
        for arm in bench.arms(app, name):
            if floats and arm.startswith("fp32") and arm.endswith((".cpu", ".gpu")):
                assert bench.truth(app, name, arm).steady_us > min(floats)


def test_an_arm_that_breaks_the_accuracy_budget_is_not_acceptable(bench):
    refused = 0
    for app, name in bench.models:
        model = by_model()[name]
        for (precision, kind), variant in model.variants.items():
            truth = bench.truth(app, name, f"{precision}.{kind}.qnn")
            if truth is not None:
                within = variant.accuracy_drop is None or variant.accuracy_drop <= model.max_accuracy_drop
                assert truth.acceptable is within
                refused += not within
    assert refused > 10


def test_a_float_variant_is_its_own_reference():
    drops = [
        variant.accuracy_drop
        for model in aihub_models()
        for (precision, _kind), variant in model.variants.items()
        if precision == "fp32" and variant.accuracy_drop is not None
    ]
    assert drops
    assert set(drops) == {0.0}


def test_a_cache_shortens_compiling_on_the_phone_and_nothing_else(bench):
    kinds = set()
    for app, name in bench.models:
        for arm in by_model()[name].rows[S24]:
            truth = bench.truth(app, name, arm)
            compiled = arm.split(".")[1] in {"qnn-context", "onnx-epcontext"}
            assert (truth.compile_cached_us < truth.compile_cold_us) is not compiled
            kinds.add(compiled)
    assert kinds == {True, False}


def test_language_models_are_left_out():
    assert not any("genie" in kind for model in aihub_models() for _precision, kind in model.variants)


def test_an_unknown_model_has_no_arms_and_no_truth(bench):
    assert bench.arms("image-classification", "nothing") == ()
    assert bench.truth("image-classification", "nothing", "int8.tflite.qnn") is None
