"""The golden reference of a model: a fixed input, what its float file makes of it, and how far its other files are off.

Files are run apart from this process (`service.registry.golden_run`), on the CPU of this machine.
"""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from pathlib import Path
from typing import ClassVar, Final

import numpy as np

from policies.errors import InvalidInput
from policies.vocabulary import Format, Precision
from service.registry.apart import inspect_apart
from service.registry.golden_run import Values
from service.registry.inspected import Inspected
from service.settings import bare_environment

WALL_S: Final = 300
SEED: Final = 0
LEAST_TOLERANCE: Final = 0.02
"""FP16 arithmetic of an accelerator stays below."""
MARGIN: Final = 2.0
"""An accelerator rounds elsewhere than this CPU: what is right may be so many times as far off as the same file here."""
MOST_ERROR: Final = 0.5
"""A file that is off by half the reference's largest value here computes something else."""
_FLOAT: Final = (Precision.FP32, Precision.FP16)
_FORMATS: Final = (Format.TFLITE, Format.ONNX)


class GoldenFailed(InvalidInput):
    """No reference can be made of these files."""

    code: ClassVar[str] = "golden-failed"


@dataclass(frozen=True, slots=True)
class Golden:
    """`inputs` and `outputs` are files of little-endian float32. `errors`: file → largest error, relative to the reference's."""

    inputs: Path
    outputs: Path
    errors: Mapping[Path, float]

    @property
    def tolerance(self) -> float:
        """What phones may be off by: twice what the worst file is off by here, at least `LEAST_TOLERANCE`."""
        return min(1.0, max(LEAST_TOLERANCE, MARGIN * max(self.errors.values(), default=0.0)))


def make_golden(files: Sequence[Path], folder: Path, given: Path | None = None) -> Golden:
    """Run the float file of these and compare the others of its format with it; of a model that comes in both formats,
    `.tflite` is compared: layouts differ between them, and with them what an input means.

    `given`: real inputs, as `.npy` or as little-endian float32; noise without them. Raises GoldenFailed where none of them
    is float, one cannot run, or one computes something else, and ModelFileError where one cannot be read.
    """
    found = {file: inspected for file in files if (inspected := inspect_apart(file))}
    reference = _reference(found)
    read = {file: inspected for file, inspected in found.items() if inspected.format is found[reference].format}
    inputs, outputs = folder / "golden-inputs.f32", folder / "golden-outputs.f32"
    (_loaded(given) if given else fixed_inputs(read[reference])).astype("<f4").tofile(inputs)
    expected = _ran(reference, inputs, outputs)
    errors = {
        file: _error(file, _ran(file, inputs, folder / "compared.f32"), expected, read[reference])
        for file in read
        if file != reference
    }
    return Golden(inputs, outputs, errors)


def _reference(found: Mapping[Path, Inspected]) -> Path:
    """The file that the others are compared with."""
    for wanted in product(_FORMATS, _FLOAT):
        for file, inspected in found.items():
            if (inspected.format, inspected.precision) == wanted:
                return file
    raise GoldenFailed("none of the files is a float .tflite or .onnx, which the others are compared with")


def fixed_inputs(model: Inspected) -> Values:
    """Uniform noise in [0, 1), the same at every call; of inputs that are whole numbers zeros and ones."""
    rng = np.random.default_rng(SEED)
    made = []
    for given in model.facts["inputs"]:
        noise = rng.random([max(1, size) for size in given["shape"]]).ravel()
        made.append(noise if given["type"].startswith("float") else np.rint(noise))
    return np.concatenate(made).astype(np.float32)


def _loaded(given: Path) -> Values:
    if given.suffix == ".npy":
        real: Values = np.load(given, allow_pickle=False).astype(np.float32).ravel()
        return real
    return np.fromfile(given, "<f4")


def _ran(model: Path, inputs: Path, outputs: Path) -> Values:
    command = [sys.executable, "-m", "service.registry.golden_run", str(model), str(inputs), str(outputs)]
    try:
        child = subprocess.run(  # noqa: S603
            command, env=bare_environment(), capture_output=True, timeout=WALL_S, check=False, text=True
        )
    except subprocess.TimeoutExpired as error:
        raise GoldenFailed(f"{model.name}: one run takes over {WALL_S} s", limit=WALL_S) from error
    if child.returncode != 0:
        said = child.stderr.strip().splitlines()[-1:] or [f"ended with code {child.returncode}"]
        raise GoldenFailed(f"{model.name} cannot be run here: {said[0]}")
    return np.fromfile(outputs, "<f4")


def _error(file: Path, found: Values, expected: Values, reference: Inspected) -> float:
    """The largest error of any output, relative to the largest value that was expected of it."""
    if found.shape != expected.shape or not np.isfinite(found).all():
        raise GoldenFailed(
            f"{file.name}: its outputs are not those of the float file, in size or because they are no numbers"
        )
    ends = _ends(expected, reference)
    worst = max(map(_relative, np.split(found, ends), np.split(expected, ends)))
    if worst > MOST_ERROR:
        raise GoldenFailed(
            f"{file.name}: off by {worst:.0%} of the reference's largest value: it computes something else, or the inputs are "
            "none that the model was made for: give real ones"
        )
    return worst


def _ends(expected: Values, reference: Inspected) -> list[int]:
    """Where one output ends and the next begins; outputs of dynamic size are taken as one."""
    sizes = [math.prod(one["shape"]) for one in reference.facts["outputs"]]
    return list(accumulate(sizes))[:-1] if sum(sizes) == expected.size else []


def _relative(found: Values, expected: Values) -> float:
    largest = max(float(np.abs(expected).max(initial=0.0)), 1e-12)
    return float(np.abs(found - expected).max(initial=0.0)) / largest
