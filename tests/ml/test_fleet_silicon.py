"""The time model and the way graphs are cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ml.datasets.graphs import real_graphs, sources
from ml.fleet.architectures import efficientnet_lite0, mobilenet_v2
from ml.fleet.forms import as_float32, as_fp16_weights, as_int8
from ml.fleet.models import CAMERA_MODELS
from ml.fleet.partition import EVERYTHING, PartitionRules, nnapi_rules, split_graph
from ml.fleet.silicon import Engine, Split, StartUp, Work, compile_us, steady
from ml.fleet.support import DRIVERS, TESTED
from policies.coverage import Fp16Weights, coverage, only
from policies.graph import ModelGraph, Node

ENGINE = Engine(10, 40, 0.25, 3, 200, 500, StartUp(30, 1, 0.25))
CPU = Engine(5, 10, 0.5, 2, 0, 0, StartUp(4, 0.1, 1))
KEYS = sorted({node.key for model in CAMERA_MODELS.values() for graph in model.forms.values() for node in graph.nodes})


def test_a_run_is_work_plus_calls_plus_cuts():
    split = Split((Work(2, float_macs=10_000_000), Work(1, int8_macs=40_000_000)), Work(4, float_macs=5_000_000), 4)
    time = steady(split, ENGINE, CPU)
    assert time.cut_us == 3 * 500
    assert time.total_us == pytest.approx((1000 + 6 + 200) + (1000 + 3 + 200) + (1000 + 8) + 1500)


def test_a_depthwise_convolution_counts_by_its_efficiency():
    plain, depthwise = Work(1, float_macs=10_000_000), Work(1, float_depthwise_macs=10_000_000)
    assert ENGINE.work_us(depthwise) - ENGINE.node_us == pytest.approx(4 * (ENGINE.work_us(plain) - ENGINE.node_us))


def test_a_type_that_the_processor_lacks_is_an_error():
    with pytest.raises(ZeroDivisionError):
        Engine(0, 10, 1, 0, 0, 0, StartUp(0, 0, 1)).work_us(Work(1, float_macs=1))


def test_what_no_delegate_takes_costs_no_compiling_and_no_cut():
    split = Split((), Work(10), 1)
    assert compile_us(split, ENGINE, cached=False) == 0
    assert split.cuts == 0


def test_a_cache_leaves_its_share_of_compiling():
    split = Split((Work(70),), Work(), 1)
    assert compile_us(split, ENGINE, cached=False) == 100_000
    assert compile_us(split, ENGINE, cached=True) == 25_000


@given(st.sets(st.sampled_from(KEYS)), st.sampled_from(sorted(CAMERA_MODELS)), st.integers(1, 5))
def test_splits_are_those_that_coverage_counts(taken, name, max_partitions):
    for graph in CAMERA_MODELS[name].forms.values():
        split = split_graph(graph, PartitionRules(frozenset(taken), max_partitions, all_or_nothing=True))
        counted = coverage(
            graph,
            only(frozenset(taken)),
            max_partitions=max_partitions,
            fp16_weights=Fp16Weights.ALL_OR_NOTHING,
        )
        assert [partition.nodes for partition in split.delegated] == list(counted.partitions)
        assert split.delegated_nodes == counted.delegated_nodes
        assert split.nodes == counted.nodes - counted.folded_nodes
        assert split.cuts == counted.cut_count


@given(st.sets(st.sampled_from(KEYS)), st.sampled_from(sorted(CAMERA_MODELS)))
def test_a_split_loses_no_work(taken, name):
    for graph in CAMERA_MODELS[name].forms.values():
        whole = split_graph(graph, EVERYTHING).delegated[0]
        split = split_graph(graph, nnapi_rules(frozenset(taken)))
        parts = (*split.delegated, split.left)
        for field in ("nodes", "float_macs", "float_depthwise_macs", "int8_macs", "int8_depthwise_macs"):
            assert sum(getattr(part, field) for part in parts) == getattr(whole, field)


def test_fp16_weights_are_delegated_whole_or_not_at_all():
    graph = as_fp16_weights(mobilenet_v2())
    all_keys = frozenset(node.key for node in graph.nodes)
    assert split_graph(graph, nnapi_rules(all_keys)).delegated_nodes == 66
    assert split_graph(graph, nnapi_rules(all_keys - {"SOFTMAX|float32"})).delegated_nodes == 0


@pytest.mark.parametrize(
    ("driver", "float32", "int8"),
    [
        # m96-chan/DroidRunner: operations taken of 31, float32 and INT8
        ("qnn-htp", 31, 31),
        ("mtk-neuron", 28, 30),
        ("mtk-mdla", 0, 30),
        ("mtk-dsp", 10, 19),
        ("google-edgetpu", 0, 29),
        ("nnapi-reference", 0, 0),
    ],
)
def test_drivers_take_as_many_operations_as_measured(driver, float32, int8):
    support = DRIVERS[driver]
    assert len(TESTED) == 31
    assert (len(support.float32 & TESTED), len(support.int8 & TESTED)) == (float32, int8)


def test_only_qnn_takes_an_int8_sum():
    """Refused by the Edge TPU and by every MediaTek driver."""
    assert {name for name, support in DRIVERS.items() if "SUM" in support.int8} == {"qnn-htp"}


def test_architectures_have_the_published_size():
    """Tan & Le: Lite0 4.7 M parameters, 0.4 G multiply-accumulates; Sandler et al.: MobileNetV2 3.5 M and 300 M."""
    lite0, mobilenet = efficientnet_lite0(), mobilenet_v2()
    assert lite0.weight_bytes / 4 == pytest.approx(4.7e6, rel=0.03)
    assert lite0.macs == pytest.approx(0.4e9, rel=0.05)
    assert mobilenet.weight_bytes / 4 == pytest.approx(3.5e6, rel=0.03)
    assert mobilenet.macs == pytest.approx(300e6, rel=0.01)
    assert len(as_int8(lite0).nodes) == 64, "as a public delegate log counts them"


def test_forms_keep_the_operations_that_compute():
    for name, graph in real_graphs().items():
        float32, fp16, int8 = as_float32(graph), as_fp16_weights(graph), as_int8(graph)
        if any(node.activation == "int8" for node in graph.nodes):
            assert int8 is graph, name
            continue
        computing = [node.op for node in float32.nodes]
        assert [n.op for n in fp16.nodes if n.activation != "float16w"] == computing, name
        assert [n.op for n in int8.nodes if n.op not in {"QUANTIZE", "DEQUANTIZE"}] == computing, name
        assert float32.macs == pytest.approx(graph.macs, rel=0.05), name


def test_every_form_computes_each_tensor_once_and_before_it_is_read():
    for model in CAMERA_MODELS.values():
        for precision, graph in model.forms.items():
            known = set(graph.inputs) | graph.constants
            for node in graph.nodes:
                stored = node.activation == "resource" or node.op in {"VAR_HANDLE", "CALL_ONCE"}
                assert stored or known.issuperset(node.inputs), (model.name, precision, node)
                assert not known.intersection(node.outputs), (model.name, precision, node)
                known.update(node.outputs)
            assert known.issuperset(graph.outputs)


def test_a_custom_operation_stays_a_float_island_in_an_int8_graph():
    graph = ModelGraph(
        (
            Node("RELU", "float32", (0,), (1,)),
            Node("CUSTOM:X", "float32", (1,), (2,)),
            Node("RELU", "float32", (2,), (3,)),
        ),
        (0,),
        (3,),
        frozenset(),
    )
    assert [node.key for node in as_int8(graph).nodes] == [
        "QUANTIZE|float32",
        "RELU|int8",
        "DEQUANTIZE|int8",
        "CUSTOM:X|float32",
        "QUANTIZE|float32",
        "RELU|int8",
        "DEQUANTIZE|int8",
    ]


def test_each_real_graph_names_the_wheel_it_comes_from():
    assert sources().keys() == real_graphs().keys()
    assert all(": " in source and source.endswith(".tflite") for source in sources().values())
