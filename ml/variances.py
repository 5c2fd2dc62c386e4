"""Variances of the kernel terms (log ms)², fitted once and then frozen.

By `python -m ml.refit` on release 0.50.2 of `qai-hub-models` (8,114 rows, other devices and toolchain than the
release in `ml/datasets/aihub.parquet`), whose latencies were never used for them.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

FROZEN: Final = MappingProxyType(
    {
        "same··": 0.0465,
        "near··": 0.591,
        "·same·": 1.7,
        "·family·": 0.553,
        "·task·": 1.48,
        "·size·": 0.596,
        "··same": 0.00411,
        "··precision": 0.18,
        "··path": 0.138,
        "same··same": 0.00022,
        "same··precision": 0.00199,
        "near··same": 0.00463,
        "near··precision": 0.0214,
        "near··path": 0.274,
        "·same·same": 0.00276,
        "·same·precision": 0.0138,
        "·same·path": 0.00204,
        "·family·same": 0.0244,
        "·family·precision": 0.117,
        "·family·path": 0.00308,
        "·task·same": 0.264,
        "·task·precision": 0.00622,
        "·size·precision": 0.00388,
        "·size·path": 0.00706,
        "same·same·": 0.00053,
        "near·same·": 0.00959,
        "near·family·": 0.00839,
        "near·size·": 0.015,
        "near·same·same": 0.0522,
        "near·same·precision": 0.00142,
        "same·same·precision": 0.000682,
        "same·same·path": 0.00748,
        "near·family·precision": 0.00281,
        "near·task·precision": 0.0158,
        "near·size·precision": 0.00128,
        "same·same·same": 0.000333,
    }
)
"""By `chipset·model·arm`, as in `ml.kernels.TERMS`."""
