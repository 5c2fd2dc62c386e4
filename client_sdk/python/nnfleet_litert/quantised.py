"""Real numbers as a tensor stores them, and back: pure, over what an interpreter says of a tensor (`dtype`, `quantization`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def stored(values: Array, tensor: Mapping[str, Any]) -> Array:
    """The tensor's own element type: rounded and clipped where it is quantised."""
    scale, zero = tensor["quantization"]
    kind = np.dtype(tensor["dtype"])
    if kind.kind == "f" or not scale:
        return np.ascontiguousarray(values, dtype=kind)
    limits = np.iinfo(kind)
    held: Array = np.clip(np.rint(values / scale) + zero, limits.min, limits.max).astype(kind)
    return held


def real(values: Array, tensor: Mapping[str, Any]) -> Array:
    """What stored values stand for."""
    scale, zero = tensor["quantization"]
    plain = np.asarray(values, dtype=np.float64)
    return (plain - zero) * scale if scale else plain
