"""The silicon model held to published facts. Each line names who measured; the tolerance is a share of the fact."""

import statistics

import pytest

from ml.fleet.drivers import nnapi_drivers
from ml.fleet.engines import gpu_engine
from ml.fleet.modelled import ModelledBench
from ml.fleet.partition import EVERYTHING, nnapi_rules, split_graph
from ml.fleet.silicon import Steady, Work, steady
from ml.fleet.socs import modelled_socs
from policies.graph import ModelGraph, Node

SOCS = {soc.name: soc for soc in modelled_socs()}
LITE0, MOBILENET = "efficientnet-lite0", "mobilenet-v2"
FITTED, LOOSE = 0.05, 0.25


def truth(soc, api, arm, model=LITE0):
    found = ModelledBench(SOCS[soc], api).truth("camera", model, arm)
    assert found is not None
    return found


def latency_ms(soc, api, arm, model=LITE0):
    return truth(soc, api, arm, model).expected_us("burst") / 1e3


EFFICIENTNET_LITE0 = [
    # m96-chan/DroidRunner, EfficientNet-Lite0, milliseconds
    ("tensor-g4", "int8.tflite.nnapi.google-edgetpu", 0.65, FITTED),
    ("tensor-g4", "int8.tflite.nnapi", 5.65, FITTED),
    ("tensor-g4", "fp32.tflite.nnapi.google-edgetpu", 16.7, FITTED),
    ("tensor-g4", "int8.tflite.nnapi.nnapi-reference", 141, LOOSE),
    ("tensor-g4", "fp32.tflite.nnapi.nnapi-reference", 64.1, LOOSE),
    ("sm8650", "int8.tflite.qnn", 1.22, FITTED),
    ("sm8650", "fp32.tflite.qnn", 2.78, FITTED),
    ("sm8650", "int8.tflite.cpu", 4.46, FITTED),
    ("sm8650", "int8.tflite.gpu", 4.95, FITTED),
    ("sm8650", "int8.tflite.nnapi.nnapi-reference", 113, LOOSE),
    ("sm8650", "fp32.tflite.nnapi.nnapi-reference", 39.8, LOOSE),
    ("mt6899", "int8.tflite.nnapi.mtk-neuron", 2.12, FITTED),
    ("mt6899", "fp32.tflite.nnapi.mtk-neuron", 7.29, FITTED),
    ("mt6899", "int8.tflite.nnapi.mtk-mdla", 2.69, FITTED),
    ("mt6899", "fp32.tflite.cpu", 26, FITTED),
    ("mt6899", "int8.tflite.nnapi.nnapi-reference", 257, LOOSE),
    ("mt6899", "fp32.tflite.nnapi.nnapi-reference", 106, LOOSE),
]


@pytest.mark.parametrize(("soc", "arm", "fact_ms", "tolerance"), EFFICIENTNET_LITE0)
def test_efficientnet_lite0_takes_as_long_as_measured(soc, arm, fact_ms, tolerance):
    assert latency_ms(soc, 35, arm) == pytest.approx(fact_ms, rel=tolerance)


@pytest.mark.parametrize(
    ("soc", "best"),
    [
        ("tensor-g4", "int8.tflite.nnapi.google-edgetpu"),
        ("sm8650", "int8.tflite.qnn"),
        ("mt6899", "int8.tflite.neuron"),
    ],
)
def test_each_flagship_has_the_winner_it_was_measured_to_have(soc, best):
    bench = ModelledBench(SOCS[soc], 35)
    times = {arm: latency_ms(soc, 35, arm) for arm in bench.arms("camera", LITE0)}
    assert min(times, key=times.__getitem__) == best


def test_float_wins_elsewhere_than_int8():
    """DroidRunner: Tensor wins INT8, the Hexagon wins float32."""
    edgetpu, hexagon = "{}.tflite.nnapi.google-edgetpu", "{}.tflite.qnn"
    assert latency_ms("tensor-g4", 35, edgetpu.format("int8")) < latency_ms("sm8650", 35, hexagon.format("int8"))
    assert latency_ms("tensor-g4", 35, edgetpu.format("fp32")) > latency_ms("sm8650", 35, hexagon.format("fp32"))


def test_the_dsp_takes_the_five_nodes_of_the_log_and_the_cpu_executes():
    """DroidRunner's delegate log of MT6899: 5 out of 64 nodes, 5 partitions for the whole graph, then XNNPACK."""
    found = truth("mt6899", 35, "int8.tflite.nnapi.mtk-dsp")
    assert (found.delegated_nodes, found.total_nodes, found.partitions) == (5, 64, 5)
    assert found.executed_by == "TfLiteXNNPackDelegate"


def stencil() -> ModelGraph:
    """66 element-wise operations in INT8, of which a 2019 driver takes three runs of four (jttarigan/npu-stencil-offload)."""
    ops = (
        ["MAXIMUM"] * 13
        + ["ADD"] * 4
        + ["MAXIMUM"] * 14
        + ["ADD"] * 4
        + ["MAXIMUM"] * 13
        + ["ADD"] * 4
        + ["MAXIMUM"] * 14
    )
    nodes = tuple(Node(op, "int8", (index,), (index + 1,), 1_807_000) for index, op in enumerate(ops))
    return ModelGraph(nodes, (0,), (len(ops),), frozenset())


def cpu_ms(soc, graph):
    return steady(split_graph(graph, EVERYTHING), SOCS[soc].cpu, SOCS[soc].cpu).total_us / 1e3


def through(soc, api, driver_name, graph) -> tuple[Steady, int, int]:
    driver = next(d for d in nnapi_drivers(SOCS[soc], api) if d.canonical == driver_name)
    # The driver's own list: `taken` knows the operations of the fleet's models only.
    split = split_graph(graph, nnapi_rules(driver.support.keys))
    return steady(split, driver.engine, SOCS[soc].cpu), split.delegated_nodes, split.pieces


def test_partial_delegation_loses_by_an_order_of_magnitude():
    """SM8250, Android 13: 12 of 66 nodes, 7 partitions, 27.4 ms against 2.16 on XNNPACK."""
    time, delegated, pieces = through("sm8250", 33, "qti-default", stencil())
    assert (delegated, pieces) == (12, 7)
    assert time.total_us / 1e3 == pytest.approx(27.4, rel=0.1)
    assert cpu_ms("sm8250", stencil()) == pytest.approx(2.16, rel=FITTED)
    assert time.cut_share > 0.05, "cuts above 5 % of the run are a warning"


def test_whole_delegation_wins():
    """MT6897: 66 of 66 nodes, 1.07 ms against 2.32 on XNNPACK."""
    time, delegated, pieces = through("mt6897", 35, "mtk-neuron", stencil())
    assert (delegated, pieces) == (66, 1)
    assert time.total_us / 1e3 == pytest.approx(1.07, rel=FITTED)
    assert time.cut_share == 0
    assert cpu_ms("mt6897", stencil()) == pytest.approx(2.32, rel=FITTED)


def test_a_small_dense_network_is_two_orders_slower_on_eden():
    """Galaxy A51 5G (Exynos 980), eden-drv: 79 to 421 times slower than the CPU for small dense networks."""
    nodes = tuple(Node("FULLY_CONNECTED", "float32", (i,), (i + 1,), 40_000) for i in range(3))
    graph = ModelGraph(nodes, (0,), (3,), frozenset())
    ratio = through("exynos-980", 30, "eden-drv", graph)[0].total_us / 1e3 / cpu_ms("exynos-980", graph)
    assert 79 <= ratio <= 421


def test_an_npu_can_lose_to_cpu_and_gpu():
    """Dimensity with a PowerVR BXM-8-256, YOLOv8n INT8: XNNPACK 273, mtk-gpu 155, mtk-neuron 618 ms."""
    work = Work(nodes=250, int8_macs=4_350_000_000)
    soc = SOCS["mt6855"]
    drivers = {driver.canonical: driver.engine for driver in nnapi_drivers(soc, 34)}
    assert soc.cpu.work_us(work) / 1e3 == pytest.approx(273, rel=0.1)
    assert drivers["mtk-gpu"].work_us(work) / 1e3 == pytest.approx(155, rel=0.1)
    assert drivers["mtk-neuron"].work_us(work) / 1e3 == pytest.approx(618, rel=0.1)


@pytest.mark.parametrize(
    ("soc", "api", "slow", "fast", "ratio"),
    [
        # pytorch/pytorch#48411, quantised MobileNetV2 on Pixel 3a: 171 against 66.8 ms
        ("sdm670", 29, "int8.tflite.nnapi.qti-default", "int8.tflite.cpu", 171 / 66.8),
        # tensorflow/tensorflow#28283, MobileNet on Mi A2: 170 against 70 in INT8, 800 against 150 in float, GPU 70
        ("sdm660", 29, "int8.tflite.nnapi.qti-default", "int8.tflite.cpu", 170 / 70),
        ("sdm660", 29, "fp32.tflite.nnapi.qti-default", "fp32.tflite.cpu", 800 / 150),
        ("sdm660", 29, "fp32.tflite.cpu", "fp32.tflite.gpu", 150 / 70),
    ],
)
def test_older_drivers_lose_by_the_measured_ratio(soc, api, slow, fast, ratio):
    found = latency_ms(soc, api, slow, MOBILENET) / latency_ms(soc, api, fast, MOBILENET)
    assert found == pytest.approx(ratio, rel=LOOSE)


def test_starting_nnapi_costs_seconds_on_a_pixel_3a_and_a_cache_hardly_helps():
    """tensorflow/tensorflow#58990: 2.62 s cold, 2.49 s cached, 0.29 s without NNAPI; differences, the app's own start aside."""
    nnapi = truth("sdm670", 31, "int8.tflite.nnapi.qti-default", MOBILENET)
    cpu = truth("sdm670", 31, "int8.tflite.cpu", MOBILENET)
    assert (nnapi.compile_cold_us - cpu.compile_cold_us) / 1e6 == pytest.approx(2.62 - 0.29, rel=FITTED)
    assert (nnapi.compile_cached_us - cpu.compile_cached_us) / 1e6 == pytest.approx(2.49 - 0.29, rel=FITTED)


@pytest.mark.parametrize(("soc", "seconds"), [("sdm670", 2.5), ("msm8953", 2.4)])
def test_a_small_adreno_starts_in_seconds(soc, seconds):
    """tensorflow/tensorflow#46132 (Adreno 615), #44612 (Adreno 506)."""
    assert truth(soc, 28, "fp32.tflite.gpu", MOBILENET).compile_cold_us / 1e6 == pytest.approx(seconds, rel=0.15)


def test_compiling_takes_tens_to_hundreds_of_milliseconds_elsewhere():
    times = [
        (truth.compile_cold_us - cpu.compile_cold_us) / 1e3
        for soc in SOCS.values()
        if soc.npu not in {"", "qti-old"} and soc.api_max >= 30
        for bench in [ModelledBench(soc, soc.api_max)]
        for cpu in [bench.truth("camera", LITE0, "int8.tflite.cpu")]
        for driver in bench.drivers
        if driver.kind == "accelerator"
        for truth in [bench.truth("camera", LITE0, f"int8.tflite.nnapi.{driver.canonical}")]
        if truth.delegated_nodes == truth.total_nodes
    ]
    assert len(times) > 30
    assert all(10 <= time <= 1000 for time in times)


def test_int8_is_slower_than_fp16_on_a_gpu_without_int8_units():
    """NNAPI field guide: 40 %."""
    engine = gpu_engine(10, "Mali-G52 MC2")
    assert engine.work_us(Work(int8_macs=10**9)) == pytest.approx(
        1.4 * engine.work_us(Work(float_macs=10**9)), rel=0.01
    )


def test_the_fast_preference_saves_less_than_three_percent():
    nnapi, cpu = truth("tensor-g4", 35, "int8.tflite.nnapi.google-edgetpu"), truth("tensor-g4", 35, "int8.tflite.cpu")
    saved = nnapi.hot_factor / cpu.hot_factor - 1
    assert 0.01 < saved < 0.03


def test_shared_buffers_save_a_fifth_of_calls_and_cuts():
    """Memory domains came with NNAPI 1.3: the driver of Android 10 copies."""
    before, after = (next(iter(nnapi_drivers(SOCS["exynos-990"], api))).engine for api in (29, 33))
    assert after.dispatch_us / before.dispatch_us == pytest.approx(0.8)
    assert after.cut_us / before.cut_us == pytest.approx(0.8)


def test_a_hot_tensor_slows_down_in_one_step():
    """10 → 18 ms after five minutes; Tensor G3 196 → 400 ms (microsoft/MegaDetector#34)."""
    found = truth("tensor-g3", 34, "int8.tflite.nnapi.google-edgetpu")
    assert found.expected_us("sustained") / found.expected_us("burst") == pytest.approx(1.8, rel=FITTED)
    assert found.hot_status == 2
    cool = truth("tensor-g4", 34, "int8.tflite.nnapi.google-edgetpu")
    assert cool.expected_us("sustained") / cool.expected_us("burst") == pytest.approx(600 / 540, rel=FITTED)


def test_the_median_gpu_equals_the_cpu_and_one_in_nine_is_three_times_as_fast():
    """Wu et al., HPCA 2019."""
    ratios = [soc.gpu_ratio for soc in SOCS.values()]
    assert statistics.median(ratios) == pytest.approx(1, abs=0.15)
    assert sum(ratio >= 3 for ratio in ratios) / len(ratios) == pytest.approx(0.11, abs=0.02)
