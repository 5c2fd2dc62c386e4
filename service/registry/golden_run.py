"""Run a model file once on the CPU, in a process of its own, on inputs from a file.

    python -m service.registry.golden_run MODEL INPUTS OUTPUTS

`.tflite` runs on LiteRT, `.onnx` on ONNX Runtime. Both files hold little-endian float32, one tensor
after the other, in the model's order. Quantised inputs and outputs are converted by their own scale and zero point. The
process bounds itself before it loads the model.
"""

from __future__ import annotations

import math
import resource
import sys
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from policies.vocabulary import Format
from service.registry.kinds import kind_of

CPU_S: Final = 120
ADDRESS_SPACE_BYTES: Final = 8 * 1024**3

Values = NDArray[np.float32]


def run_tflite(model: Path, inputs: Values) -> Values:
    """The outputs of one run, flat. Raises RuntimeError and ValueError as LiteRT does."""
    # Here: the parent makes this process before it knows whether the extra `litert` is installed.
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model_path=str(model), num_threads=1)
    interpreter.allocate_tensors()
    taken = interpreter.get_input_details()
    parts = _parted(inputs, [tuple(one["shape"]) for one in taken])
    for one, values in zip(taken, parts, strict=True):
        interpreter.set_tensor(one["index"], _stored(values, one))
    interpreter.invoke()
    given = [_real(interpreter.get_tensor(one["index"]), one) for one in interpreter.get_output_details()]
    return np.concatenate([values.ravel() for values in given])


def run_onnx(model: Path, inputs: Values) -> Values:
    """The outputs of one run, flat. Raises what ONNX Runtime raises. Sizes that are unknown ahead are 1."""
    import onnxruntime  # as above, for the extra `onnxruntime`

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    taken = session.get_inputs()
    parts = _parted(inputs, [_onnx_shape(one.shape) for one in taken])
    feeds = {one.name: part.astype(_onnx_kind(one.type)) for one, part in zip(taken, parts, strict=True)}
    return np.concatenate([np.asarray(values, np.float32).ravel() for values in session.run(None, feeds)])


RUNNERS: Final = MappingProxyType({Format.TFLITE: run_tflite, Format.ONNX: run_onnx})


def _onnx_shape(stated: list[Any]) -> tuple[int, ...]:
    return tuple(max(1, size) if isinstance(size, int) else 1 for size in stated)


def _onnx_kind(stated: str) -> np.dtype[Any]:
    """`tensor(float)`, `tensor(int64)`, … as numpy names it."""
    name = stated.removeprefix("tensor(").removesuffix(")")
    return np.dtype({"float": "float32", "double": "float64"}.get(name, name))


def _parted(values: Values, shapes: list[tuple[int, ...]]) -> list[Values]:
    """One tensor for each shape, in order. Raises ValueError where the values are not as many as the shapes take."""
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    if values.size != ends[-1]:
        raise ValueError(f"the input has {values.size} values, the model takes {ends[-1]}")
    return [part.reshape(shape) for part, shape in zip(np.split(values, ends[:-1]), shapes, strict=True)]


def _stored(values: Values, tensor: dict[str, Any]) -> NDArray[Any]:
    kind = np.dtype(tensor["dtype"])
    scale, zero_point = tensor["quantization"]
    if not scale:
        return values.astype(kind)
    bounds = np.iinfo(kind)
    stored: NDArray[Any] = np.clip(np.rint(values / scale) + zero_point, bounds.min, bounds.max).astype(kind)
    return stored


def _real(values: NDArray[Any], tensor: dict[str, Any]) -> Values:
    scale, zero_point = tensor["quantization"]
    real = values.astype(np.float32)
    return (real - zero_point) * np.float32(scale) if scale else real


def main(model: Path, inputs: Path, outputs: Path) -> None:
    """The child's work."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE_BYTES, ADDRESS_SPACE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    kind = kind_of(model)
    if kind is None:
        sys.exit("a file of a kind that is not run here")
    RUNNERS[kind](model, np.fromfile(inputs, "<f4")).astype("<f4").tofile(outputs)


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:]))
