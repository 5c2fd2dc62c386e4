"""What reading a model file costs: `make bench`, or `python -m tests.bench.model_file`.

A file of 30 MB with 700 convolutions is read as the service reads it, against loading it and taking its sha256. Time is
CPU of this process, the fastest of several rounds; memory is the peak of a process that reads it beyond one that reads
a file of a few kilobytes.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import tflite

from service.registry.inspection import inspect_file
from tests.bench.goals import at_most
from tests.service.tflite_builder import Op, T, build_tflite

OPERATIONS, WEIGHT_BYTES = 700, 45_000
ROUNDS: Final = 5
GOAL_S, GOAL_SIZES = 1.0, 2.0


def model(operations: int, weight_bytes: int) -> bytes:
    """A chain of convolutions, each with weights of its own."""
    weights = bytes(weight_bytes)
    tensors = [T((1, 8, 8, 1), name="image")]
    operators = []
    for number in range(operations):
        tensors += [T((1, 3, 3, 1), data=weights), T((1, 8, 8, 1), name=f"made {number}")]
        operators.append(Op(tflite.BuiltinOperator.CONV_2D, (2 * number, 2 * number + 1), (2 * number + 2,)))
    return build_tflite(tensors, operators, outputs=(2 * operations,))


def cpu_s(act: Callable[[], object]) -> float:
    """CPU seconds of one call, in its fastest round."""
    took = []
    for _ in range(ROUNDS):
        start = time.process_time()
        act()
        took.append(time.process_time() - start)
    return min(took)


def peak_bytes(file: Path) -> int:
    """Peak resident memory of a process that reads the file."""
    reads = f"from pathlib import Path\nfrom service.registry.inspection import inspect_file\ninspect_file(Path({str(file)!r}))"
    child = subprocess.Popen([sys.executable, "-c", reads])
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise RuntimeError(f"reading {file} ended with code {child.returncode}")
    return usage.ru_maxrss * 1024


def main() -> None:
    """Print time and memory. A missed goal is printed, not an error: a shared machine is no judge."""
    with tempfile.TemporaryDirectory() as folder:
        large, small = Path(folder) / "large.tflite", Path(folder) / "small.tflite"
        size = large.write_bytes(model(OPERATIONS, WEIGHT_BYTES))
        small.write_bytes(model(1, 100))
        read_s = cpu_s(lambda: inspect_file(large))
        hashed_s = cpu_s(lambda: hashlib.sha256(large.read_bytes()))
        memory = peak_bytes(large) - peak_bytes(small)
    print(
        f"a .tflite of {size / 1e6:.0f} MB, {OPERATIONS} operations: read in {read_s:.3f} s CPU, "
        f"{at_most(read_s, GOAL_S, 's')}; {read_s / hashed_s:.2f} × loading it and taking its sha256; "
        f"memory {memory / size:.2f} × its size, {at_most(memory / size, GOAL_SIZES, '×')}"
    )


if __name__ == "__main__":
    main()
