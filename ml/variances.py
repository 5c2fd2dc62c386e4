"""Variances of the kernel terms (log ms)², fitted once and then frozen.

Mean of four runs of `python -m ml.refit --rows 2400` (seeds 0 to 3) on release 0.56.0 of `qai-hub-models`, the first to
state what its NPUs are, before models had layers among their features: fitted anew with them, they chose worse arms on
0.60.0. Terms were chosen by regret on release 0.60.0. No latency of the release in
`ml/datasets/aihub.parquet` was used for either.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

FROZEN: Final = MappingProxyType(
    {
        "same··": 0.0155,
        "near··": 0.877,
        "·same·": 1.36,
        "·family·": 0.345,
        "·task·": 1.62,
        "·size·": 0.206,
        "··same": 0.00235,
        "··precision": 0.237,
        "··path": 0.00922,
        "same··same": 0.000179,
        "same··precision": 0.00243,
        "near··same": 0.000243,
        "near··precision": 0.026,
        "near··path": 0.00331,
        "·same·same": 0.00561,
        "·same·precision": 0.118,
        "·same·path": 0.0187,
        "·family·same": 0.00129,
        "·family·precision": 0.00503,
        "·family·path": 0.00575,
        "·task·same": 0.0189,
        "·task·precision": 0.0028,
        "·size·precision": 0.0135,
        "·size·path": 0.00597,
        "·alike·": 0.94,
        "·alike·same": 0.0221,
        "·alike·precision": 0.0169,
        "·alike·path": 0.135,
        "same·same·": 0.00132,
        "near·same·": 0.0586,
        "near·family·": 0.0281,
        "near·size·": 0.0238,
        "near·same·same": 0.019,
        "near·same·precision": 0.0211,
        "same·same·precision": 0.0011,
        "same·same·path": 0.00118,
        "near·family·precision": 0.029,
        "near·task·precision": 0.00162,
        "near·size·precision": 0.0023,
        "same·same·same": 8.14e-05,
    }
)
"""By `chipset·model·arm`, as in `ml.kernels.TERMS`."""
