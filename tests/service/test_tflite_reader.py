"""R-B1, R-B3: variants are registered from the real file. A file is hostile until it is read."""

import struct
from pathlib import Path

import pytest
import tflite
from hypothesis import given, settings
from hypothesis import strategies as st
from tflite_builder import Op, T, build_tflite

from policies.vocabulary import Precision
from service.registry.model_file import MAX_RANK, MAX_TEXT_BYTES, ModelFile, ModelFileError, Quantization
from service.registry.tflite import read_tflite

VECTORS = Path(__file__).parents[1] / "vectors"
WAKE_WORD = (VECTORS / "hey_jarvis.tflite").read_bytes()

B = tflite.BuiltinOperator
FLOAT32, FLOAT16 = tflite.TensorType.FLOAT32, tflite.TensorType.FLOAT16
INT8, INT16, INT4 = tflite.TensorType.INT8, tflite.TensorType.INT16, tflite.TensorType.INT4
INT32, BOOL = tflite.TensorType.INT32, tflite.TensorType.BOOL


def conv(activation: int = FLOAT32, weights: int = FLOAT32) -> bytes:
    """A 3×3 convolution of a 4×4 image from 2 to 8 channels."""
    tensors = [T((1, 4, 4, 2), activation, name="image"), T((8, 3, 3, 2), weights, b"w"), T((1, 4, 4, 8), activation)]
    return build_tflite(tensors, [Op(B.CONV_2D, (0, 1, -1), (2,))], outputs=[2])


def refusal(payload: bytes) -> str:
    with pytest.raises(ModelFileError) as caught:
        read_tflite(payload)
    return caught.value.reason


class TestARealFile:
    model = read_tflite(WAKE_WORD)

    def test_tells_operations_and_their_versions(self) -> None:
        assert self.model.operations == {
            **dict.fromkeys(("CALL_ONCE", "FULLY_CONNECTED", "LOGISTIC", "QUANTIZE"), 1),
            **dict.fromkeys(("VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE", "STRIDED_SLICE", "CONCATENATION"), 6),
            "RESHAPE": 2,
            "CONV_2D": 5,
            "DEPTHWISE_CONV_2D": 4,
        }
        assert self.model.versions["CONV_2D"] == 3
        assert self.model.versions.keys() == self.model.operations.keys()

    def test_tells_precision_from_its_tensors(self) -> None:
        assert self.model.precision is Precision.INT8

    def test_tells_shapes_and_quantisation_of_inputs_and_outputs(self) -> None:
        (features,), (probability,) = self.model.inputs, self.model.outputs
        assert (features.dtype, features.shape) == ("int8", (1, 3, 40))
        assert (probability.dtype, probability.shape) == ("uint8", (1, 1))
        assert probability.quantization == Quantization((1 / 256,), (0,))
        assert features.name

    def test_tells_control_flow_and_the_graphs_beside_the_main_one(self) -> None:
        assert self.model.control_flow == ("CALL_ONCE",)
        assert self.model.subgraphs == 2
        assert self.model.dynamic_tensors == ()

    def test_counts_each_buffer_of_weights_once(self) -> None:
        assert 0 < self.model.graph.weight_bytes < sum(tensor.bytes for tensor in self.model.tensors)


class TestOperationCodes:
    @pytest.mark.parametrize(
        ("newer", "deprecated"),
        [(B.QUANTIZE, 0), (0, B.QUANTIZE), (B.QUANTIZE, B.QUANTIZE)],
        ids=["only the newer field", "only the old byte", "both"],
    )
    def test_the_larger_of_the_two_fields_is_right(self, newer: int, deprecated: int) -> None:
        operator = Op(B.QUANTIZE, (0,), (1,), newer=newer, deprecated=deprecated)
        model = read_tflite(build_tflite([T((1,)), T((1,), INT8)], [operator]))
        assert model.graph.nodes[0].key == "QUANTIZE|float32"

    def test_codes_over_the_old_byte_are_read(self) -> None:
        model = read_tflite(build_tflite([T((1,)), T((1,))], [Op(B.GELU, (0,), (1,), version=2)]))
        assert (model.graph.nodes[0].op, model.versions["GELU"]) == ("GELU", 2)

    def test_a_code_newer_than_the_schema_keeps_its_number(self) -> None:
        model = read_tflite(build_tflite([T((1,)), T((1,))], [Op(9_999, (0,), (1,))]))
        assert model.graph.nodes[0].op == "BUILTIN_9999"

    def test_a_custom_operation_keeps_its_name(self) -> None:
        operators = [Op(B.CUSTOM, (0,), (1,), custom="Landmarks"), Op(B.CUSTOM, (1,), (2,))]
        model = read_tflite(build_tflite([T((1,))] * 3, operators))
        assert [node.op for node in model.graph.nodes] == ["CUSTOM:Landmarks", "CUSTOM:"]

    def test_the_highest_version_of_an_operation_counts(self) -> None:
        operators = [Op(B.ADD, (0, 0), (1,), version=3), Op(B.ADD, (1, 1), (2,), version=1)]
        assert read_tflite(build_tflite([T((1,))] * 3, operators)).versions == {"ADD": 3}


class TestActivationTypes:
    @pytest.mark.parametrize(
        ("tensors", "operator", "key"),
        [
            ([T((1,)), T((1,)), T((1,), BOOL)], Op(B.SELECT, (2, 0, 1), (3,)), "SELECT|float32"),
            ([T((4,), INT32, b"s"), T((1,), INT8, b"w"), T((1,), INT8)], Op(B.TRANSPOSE_CONV, (0, 1, 2), (3,)), None),
            ([T((1,), INT32, b"axis"), T((1,))], Op(B.SPLIT, (0, 1), (2,)), "SPLIT|float32"),
            ([T((1,), FLOAT32, b"table"), T((1,), INT32)], Op(B.GATHER, (0, 1), (2,)), "GATHER|float32"),
            ([T((1,), FLOAT16, b"w")], Op(B.DEQUANTIZE, (0,), (1,)), "DEQUANTIZE|float16w"),
            ([T((1,), FLOAT16)], Op(B.DEQUANTIZE, (0,), (1,)), "DEQUANTIZE|float16"),
            ([T((1,), INT8, b"w")], Op(B.DEQUANTIZE, (0,), (1,)), "DEQUANTIZE|int8"),
            ([], Op(B.VAR_HANDLE, (), (0,)), "VAR_HANDLE|float32"),
            ([], Op(B.CALL_ONCE, (), ()), "CALL_ONCE|none"),
        ],
    )
    def test_are_those_of_the_data_not_of_its_companions(self, tensors: list[T], operator: Op, key: str | None) -> None:
        model = read_tflite(build_tflite([*tensors, T((1,))], [operator], inputs=[]))
        assert model.graph.nodes[0].key == (key or "TRANSPOSE_CONV|int8")

    def test_of_a_type_newer_than_the_schema_keep_their_number(self) -> None:
        model = read_tflite(build_tflite([T((1,), 99), T((1,), 99)], [Op(B.ABS, (0,), (1,))]))
        assert model.graph.nodes[0].activation == "type99"


class TestPrecision:
    @pytest.mark.parametrize(
        ("activation", "weights", "precision"),
        [
            (FLOAT32, FLOAT32, Precision.FP32),
            (FLOAT32, FLOAT16, Precision.FP16),
            (FLOAT16, FLOAT16, Precision.FP16),
            (FLOAT32, INT8, Precision.INT8_DYNAMIC),
            (INT8, INT8, Precision.INT8),
            (INT16, INT8, Precision.INT16X8),
            (INT16, INT4, Precision.INT16X4),
            (INT8, INT4, Precision.MIXED),
        ],
    )
    def test_is_that_of_activations_and_weights(self, activation: int, weights: int, precision: Precision) -> None:
        assert read_tflite(conv(activation, weights)).precision is precision

    def test_sees_fp16_weights_behind_their_dequantise(self) -> None:
        tensors = [T((1, 4)), T((3, 4), FLOAT16, b"w"), T((3, 4)), T((1, 3))]
        operators = [Op(B.DEQUANTIZE, (1,), (2,)), Op(B.FULLY_CONNECTED, (0, 2), (3,))]
        assert read_tflite(build_tflite(tensors, operators)).precision is Precision.FP16

    @pytest.mark.parametrize(
        ("second", "precision"),
        [
            ((FLOAT32, FLOAT32), Precision.INT8_DYNAMIC),
            ((INT8, INT8), Precision.MIXED_FLOAT),
        ],
    )
    def test_a_few_float_weights_do_not_hide_a_dynamic_model(
        self, second: tuple[int, int], precision: Precision
    ) -> None:
        assert self._two((FLOAT32, INT8), second) is precision

    def test_two_integer_widths_are_mixed_int16(self) -> None:
        assert self._two((INT8, INT8), (INT16, INT8)) is Precision.MIXED_INT16

    def test_any_other_two_are_mixed(self) -> None:
        assert self._two((INT16, INT8), (INT16, INT4)) is Precision.MIXED

    @pytest.mark.parametrize(
        ("dtype", "precision"),
        [
            (INT8, Precision.INT8),
            (INT16, Precision.INT16X8),
            (FLOAT16, Precision.FP16),
            (FLOAT32, Precision.FP32),
        ],
    )
    def test_without_weights_is_that_of_the_computed_tensors(self, dtype: int, precision: Precision) -> None:
        payload = build_tflite([T((1,), dtype), T((1,), dtype)], [Op(B.ABS, (0,), (1,))])
        assert read_tflite(payload).precision is precision

    def test_weights_that_are_computed_are_no_weights(self) -> None:
        payload = build_tflite([T((1, 2), INT8), T((1, 2)), T((1, 2))], [Op(B.BATCH_MATMUL, (1, 0), (2,))])
        assert read_tflite(payload).precision is Precision.FP32

    @staticmethod
    def _two(first: tuple[int, int], second: tuple[int, int]) -> Precision:
        tensors = [T((1, 4), first[0]), T((3, 4), first[1], b"w"), T((1, 3), first[0])]
        tensors += [T((1, 4), second[0]), T((3, 4), second[1], b"w"), T((1, 3), second[0])]
        operators = [Op(B.FULLY_CONNECTED, (0, 1), (2,)), Op(B.FULLY_CONNECTED, (3, 4), (5,))]
        return read_tflite(build_tflite(tensors, operators, inputs=[0, 3])).precision


class TestWork:
    @pytest.mark.parametrize(
        ("shapes", "operator", "macs"),
        [
            ([(1, 4, 4, 2), (8, 3, 3, 2), (1, 4, 4, 8)], Op(B.CONV_2D, (0, 1, -1), (2,)), 4 * 4 * 8 * 3 * 3 * 2),
            ([(1, 4, 4, 2), (1, 3, 3, 2), (1, 4, 4, 2)], Op(B.DEPTHWISE_CONV_2D, (0, 1), (2,)), 4 * 4 * 2 * 3 * 3),
            ([(5, 4), (3, 4), (5, 3)], Op(B.FULLY_CONNECTED, (0, 1), (2,)), 5 * 3 * 4),
            ([(4,), (2, 3, 3, 8), (1, 4, 4, 8), (1, 8, 8, 2)], Op(B.TRANSPOSE_CONV, (0, 1, 2), (3,)), 128 * 18),
            ([(2, 5, 4), (2, 4, 3), (2, 5, 3)], Op(B.BATCH_MATMUL, (0, 1), (2,)), 2 * 5 * 3 * 4),
            ([(2, 3), (2, 3)], Op(B.LOGISTIC, (0,), (1,)), 6),
            ([(2, 3), (3, 2)], Op(B.RESHAPE, (0,), (1,)), 0),
            ([(2, 3)], Op(B.CONV_2D, (0,), ()), 0),
            ([(2, 3), (2, 3)], Op(B.CONV_2D, (0,), (1,)), 6),
        ],
    )
    def test_follows_from_the_shapes(self, shapes: list[tuple[int, ...]], operator: Op, macs: int) -> None:
        assert read_tflite(build_tflite([T(shape) for shape in shapes], [operator])).graph.macs == macs

    def test_an_absent_bias_is_no_input(self) -> None:
        assert read_tflite(conv()).graph.nodes[0].inputs == (0, 1)


class TestShapes:
    def test_a_dynamic_dimension_is_found_and_counts_as_one(self) -> None:
        tensors = [T((1, 1, 3), signature=(-1, -1, 3)), T((1, 3))]
        model = read_tflite(build_tflite(tensors, [Op(B.ABS, (0,), (1,))]))
        assert model.dynamic_tensors == (0,)
        assert model.inputs[0].dynamic_axes == (0, 1)
        assert model.inputs[0].elements == 3

    def test_a_negative_size_in_the_shape_itself_is_dynamic_too(self) -> None:
        model = read_tflite(build_tflite([T((-1, 3)), T((1, 3))], [Op(B.ABS, (0,), (1,))]))
        assert (model.inputs[0].dynamic_axes, model.inputs[0].shape) == ((0,), (1, 3))

    def test_per_channel_quantisation_is_kept(self) -> None:
        weights = T((2,), INT8, b"ww", scales=(0.5, 0.25), zero_points=(0, 0))
        model = read_tflite(build_tflite([T((2,), INT8), weights, T((2,), INT8)], [Op(B.ADD, (0, 1), (2,))]))
        assert model.tensors[1].quantization == Quantization((0.5, 0.25), (0, 0))
        assert model.tensors[0].quantization is None


class TestConstants:
    def test_data_behind_the_flatbuffer_is_a_constant(self) -> None:
        tensors, operators = [T((4,)), T((4,)), T((4,))], [Op(B.ADD, (0, 1), (2,))]
        base = build_tflite(tensors, operators, [1], outside=(2**20, 16))
        payload = build_tflite(tensors, operators, [1], outside=(len(base), 16)) + bytes(16)
        model = read_tflite(payload)
        assert (model.graph.constants, model.graph.weight_bytes) == ({0}, 16)
        assert refusal(payload[:-1]) == "malformed"

    def test_tensors_may_share_a_buffer(self) -> None:
        tensors = [T((4,)), T((4,), data=b"0123"), T((4,), buffer=2), T((4,))]
        model = read_tflite(build_tflite(tensors, [Op(B.CONCATENATION, (0, 1, 2), (3,))]))
        assert (model.graph.constants, model.graph.weight_bytes) == ({1, 2}, 4)


class TestRefusals:
    def test_have_one_code_and_a_reason(self) -> None:
        with pytest.raises(ModelFileError, match=r"not a \.tflite file") as caught:
            read_tflite(b"PK")
        assert (caught.value.code, caught.value.reason) == ("invalid-model-file", "not-a-model")

    def test_another_kind_of_file_is_not_a_model(self) -> None:
        assert refusal(b"\x08\x07PK") == "not-a-model"
        assert refusal(b"") == "not-a-model"
        assert refusal(build_tflite([T((1,))] * 2, [Op(B.ABS, (0,), (1,))], version=2)) == "not-a-model"

    def test_a_file_without_operations_has_no_graph(self) -> None:
        assert refusal(build_tflite([T((1,))], [])) == "no-graph"
        assert refusal(build_tflite([T((1,))] * 2, [Op(B.ABS, (0,), (1,))], subgraphs=0)) == "no-graph"

    @pytest.mark.parametrize(
        ("tensors", "operators"),
        [
            ([T((1,))] * 2, [Op(B.ABS, (0,), (2,))]),
            ([T((1,))] * 2, [Op(B.ABS, (-2,), (1,))]),
            ([T((1,))] * 2, [Op(B.ABS, (0,), (1,)), Op(B.ABS, (0,), (1,))]),
            ([T((1,))] * 3, [Op(B.ABS, (1,), (2,)), Op(B.ABS, (0,), (1,))]),
            ([T((1,))] * 2, [Op(B.ABS, (1,), (1,))]),
            ([T((1,)), T((1,), buffer=77)], [Op(B.ABS, (0,), (1,))]),
            ([T((1, 1)), T((1,), signature=(1, 1))], [Op(B.ABS, (0,), (1,))]),
        ],
        ids=[
            *("a tensor that is not there", "a negative tensor", "computed twice", "read before it is computed"),
            *("read by its own producer", "a buffer that is not there", "a signature of another rank"),
        ],
    )
    def test_a_graph_that_cannot_run_is_malformed(self, tensors: list[T], operators: list[Op]) -> None:
        assert refusal(build_tflite(tensors, operators)) == "malformed"

    @pytest.mark.parametrize("numbers", [{"inputs": [9]}, {"outputs": [9]}])
    def test_inputs_and_outputs_are_tensors(self, numbers: dict[str, list[int]]) -> None:
        assert refusal(build_tflite([T((1,))] * 2, [Op(B.ABS, (0,), (1,))], **numbers)) == "malformed"

    @pytest.mark.parametrize(
        ("tensors", "operator"),
        [
            ([T((1,) * (MAX_RANK + 1)), T((1,))], Op(B.ABS, (0,), (1,))),
            ([T((2**31 - 1, 2**31 - 1)), T((1,))], Op(B.ABS, (0,), (1,))),
            ([T((1,), name="n" * (MAX_TEXT_BYTES + 1)), T((1,))], Op(B.ABS, (0,), (1,))),
            ([T((2**20, 2**19)), T((2**20, 2**19)), T((2**20, 2**20))], Op(B.FULLY_CONNECTED, (0, 1), (2,))),
        ],
        ids=["rank", "elements", "name", "work"],
    )
    def test_what_is_over_a_limit_is_too_large(self, tensors: list[T], operator: Op) -> None:
        assert refusal(build_tflite(tensors, [operator])) == "too-large"

    def test_an_operator_code_that_is_not_there_is_malformed(self) -> None:
        payload = build_tflite([T((1,))] * 2, [Op(B.ABS, (0,), (1,)), Op(B.ABS, (0,), (1,))])
        operator = tflite.Model.GetRootAs(payload, 0).Subgraphs(0).Operators(1)
        at = operator._tab.Pos + operator._tab.Offset(4)
        damaged = bytearray(payload)
        damaged[at : at + 4] = struct.pack("<I", 9)
        assert refusal(bytes(damaged)) == "malformed"

    @pytest.mark.parametrize("limit", ["MAX_EDGES", "MAX_QUANTIZATION_VALUES", "MAX_TENSORS", "MAX_NODES"])
    def test_the_sum_over_all_vectors_is_bounded(self, limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(f"service.registry.tflite.{limit}", 3)
        assert refusal(WAKE_WORD) == "too-large"


class TestDamagedFiles:
    """Whatever the bytes, the answer is a model or a ModelFileError, and it comes at once."""

    @staticmethod
    def read(payload: bytes) -> ModelFile | None:
        try:
            return read_tflite(payload)
        except ModelFileError:
            return None

    @given(st.integers(0, len(WAKE_WORD) - 1))
    def test_truncated(self, length: int) -> None:
        self.read(WAKE_WORD[:length])

    @given(st.lists(st.tuples(st.integers(8, len(WAKE_WORD) - 1), st.integers(0, 255)), min_size=1, max_size=40))
    def test_with_other_bytes_anywhere(self, changes: list[tuple[int, int]]) -> None:
        damaged = bytearray(WAKE_WORD)
        for at, value in changes:
            damaged[at] = value
        self.read(bytes(damaged))

    SMALL = conv()

    @settings(max_examples=500)
    @given(st.lists(st.tuples(st.integers(8, len(SMALL) - 1), st.integers(0, 7)), min_size=1, max_size=4))
    def test_with_bits_flipped_where_every_byte_is_structure(self, flips: list[tuple[int, int]]) -> None:
        damaged = bytearray(self.SMALL)
        for at, bit in flips:
            damaged[at] ^= 1 << bit
        self.read(bytes(damaged))

    @settings(max_examples=300)
    @given(st.integers(2, len(SMALL) // 4 - 1), st.sampled_from([0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x10000]))
    def test_with_extreme_offsets_and_lengths(self, word: int, value: int) -> None:
        damaged = bytearray(self.SMALL)
        damaged[word * 4 : word * 4 + 4] = struct.pack("<I", value)
        self.read(bytes(damaged))

    @given(st.binary(max_size=400))
    def test_of_noise_behind_the_identifier(self, noise: bytes) -> None:
        self.read(noise[:4].ljust(4, b"\0") + b"TFL3" + noise[4:])
