"""Run a `.tflite` file once on the CPU, in a process of its own, on inputs from a file.

    python -m service.registry.golden_run MODEL INPUTS OUTPUTS

Both files hold little-endian float32, one tensor after the other, in the model's order. Quantised inputs and outputs
are converted by their own scale and zero point. The process bounds itself before it loads the model.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

CPU_S: Final = 120
ADDRESS_SPACE_BYTES: Final = 8 * 1024**3

Values = NDArray[np.float32]


def run(model: Path, inputs: Values) -> Values:
    """The outputs of one run, flat. Raises RuntimeError and ValueError as LiteRT does."""
    # Here: the parent makes this process before it knows whether the extra `litert` is installed.
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model_path=str(model), num_threads=1)
    interpreter.allocate_tensors()
    at = 0
    for taken in interpreter.get_input_details():
        size = int(np.prod(taken["shape"]))
        interpreter.set_tensor(taken["index"], _stored(inputs[at : at + size].reshape(taken["shape"]), taken))
        at += size
    interpreter.invoke()
    given = [_real(interpreter.get_tensor(one["index"]), one) for one in interpreter.get_output_details()]
    return np.concatenate([values.ravel() for values in given])


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
    run(model, np.fromfile(inputs, "<f4")).astype("<f4").tofile(outputs)


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:]))
