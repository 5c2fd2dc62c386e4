"""The golden check: outputs on the fixed input of the decision, compared with what the float file made of it at registration.

Both files hold little-endian float32, one tensor after the other, in the model's order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from nnfleet_litert.artifacts import Artifacts

Array = NDArray[Any]
MOST_BYTES: Final = 64 * 1024 * 1024
MOST_REL_ERROR: Final = 1e12


@dataclass(frozen=True, slots=True)
class GoldenReference:
    """Files of inputs and of the outputs that belong to them; outputs may be off by `tolerance`, relative to their largest."""

    inputs: Path
    outputs: Path
    tolerance: float


def golden_reference(stated: Mapping[str, Any] | None, artifacts: Artifacts) -> GoldenReference | None:
    """The reference that a decision states for a model, fetched; None where it states none, or keeps no files of it.

    Raises ArmFailed where the files cannot be had.
    """
    if not stated or not stated.get("input_url") or not stated.get("output_url"):
        return None
    inputs, outputs = (
        artifacts.path({"sha256": stated[f"{side}_sha256"], "url": stated[f"{side}_url"], "size_bytes": MOST_BYTES})
        for side in ("input", "output")
    )
    return GoldenReference(inputs, outputs, float(stated["tolerance"]))


def parted(values: Array, shapes: Sequence[Sequence[int]]) -> list[Array]:
    """Flat values as tensors of these shapes. Raises ValueError where they are of another size."""
    if values.size != sum(prod(shape) for shape in shapes):
        raise ValueError(f"{values.size} values are not those of {list(map(tuple, shapes))}")
    ends = np.cumsum([prod(shape) for shape in shapes])[:-1]
    return [part.reshape(shape) for part, shape in zip(np.split(values, ends), shapes, strict=True)]


def compared(found: Sequence[Array], expected: Array, tolerance: float) -> Mapping[str, Any]:
    """One check: the largest error of any output, relative to the largest value that was expected of it."""
    if sum(output.size for output in found) != expected.size:
        worst = float("inf")
    else:
        references = parted(expected, [output.shape for output in found])
        worst = max(map(_relative, found, references), default=0.0)
    return {"checks": 1, "passed": int(worst <= tolerance), "max_rel_error": min(worst, MOST_REL_ERROR)}


def _relative(found: Array, expected: Array) -> float:
    if not np.isfinite(found).all():
        return float("inf")
    return float(np.abs(found - expected).max(initial=0.0) / max(float(np.abs(expected).max(initial=0.0)), 1e-12))
