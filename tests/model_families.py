"""Families of variants: a float `.tflite` file, and what ai-edge-quantizer makes of it. Real files that really run."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter
from ai_edge_litert.tools import flatbuffer_utils
from ai_edge_quantizer import quantizer, recipe

SAMPLES: Final = 8


def make_family(float_file: bytes, folder: Path, name: str) -> Mapping[str, Path]:
    """`fp32`, `int8` and `int8-dynamic` files of a model in the folder; INT8 is calibrated on noise in [0, 1)."""
    reference = folder / f"{name}-fp32.tflite"
    reference.write_bytes(modern(float_file))
    made = {"fp32": reference}
    for kind, quantise in {"int8-dynamic": _dynamic, "int8": _static}.items():
        made[kind] = folder / f"{name}-{kind}.tflite"
        made[kind].write_bytes(quantise(reference))
    return made


def _dynamic(reference: Path) -> bytes:
    return _quantised(reference, recipe.dynamic_wi8_afp32(), None)


def _static(reference: Path) -> bytes:
    return _quantised(reference, recipe.static_wi8_ai8(), _samples(reference))


def _quantised(reference: Path, how: Any, samples: Any) -> bytes:
    maker = quantizer.Quantizer(str(reference), how)
    with warnings.catch_warnings():
        # Calibration looks at every tensor, which is what LiteRT warns of.
        warnings.filterwarnings("ignore", "Warning: Enabling `experimental_preserve_all_tensors`")
        calibration = maker.calibrate(samples) if samples else None
        return bytes(maker.quantize(calibration).quantized_model)


def quantised_by_old_codes(float_file: bytes, folder: Path) -> bytes:
    """What the quantiser makes of a file whose operations only the old byte tells."""
    model = flatbuffer_utils.read_model_from_bytearray(bytearray(modern(float_file)))
    for code in model.operatorCodes:
        code.builtinCode = 0
    reference = folder / "old.tflite"
    reference.write_bytes(flatbuffer_utils.convert_object_to_bytearray(model))
    return _static(reference)


def modern(float_file: bytes) -> bytes:
    """The file as a converter of today writes it: the quantiser asks for a signature, and reads only the newer opcode.

    Of a file with the old byte alone it takes every operation for ADD, and quantises weights as if they were computed.
    """
    model = flatbuffer_utils.read_model_from_bytearray(bytearray(float_file))
    for code in model.operatorCodes:
        code.builtinCode = max(code.builtinCode, code.deprecatedBuiltinCode)
    if not model.signatureDefs:
        model.signatureDefs = [_signature(model.subgraphs[0])]
    return bytes(flatbuffer_utils.convert_object_to_bytearray(model))


def with_zero_point(file: Path, output: int, zero_point: int) -> bytes:
    """The file with another zero point at an output: what lies beyond the range that is left saturates."""
    model = flatbuffer_utils.read_model(str(file))
    graph = model.subgraphs[0]
    graph.tensors[graph.outputs[output]].quantization.zeroPoint = [zero_point]
    return bytes(flatbuffer_utils.convert_object_to_bytearray(model))


def _signature(graph: Any) -> Any:
    signature = schema.SignatureDefT()
    signature.signatureKey, signature.subgraphIndex = "serving_default", 0
    signature.inputs, signature.outputs = (
        [_named(graph, number) for number in side] for side in (graph.inputs, graph.outputs)
    )
    return signature


def _named(graph: Any, number: int) -> Any:
    entry = schema.TensorMapT()
    entry.name, entry.tensorIndex = graph.tensors[number].name, number
    return entry


def _samples(reference: Path) -> dict[str, list[dict[str, Any]]]:
    rng = np.random.default_rng(1)
    interpreter = Interpreter(model_path=str(reference))
    runner = interpreter.get_signature_runner()
    shapes = {name: one["shape"] for name, one in runner.get_input_details().items()}
    drawn = [{name: rng.random(shape).astype(np.float32) for name, shape in shapes.items()} for _ in range(SAMPLES)]
    return {next(iter(interpreter.get_signature_list())): drawn}
