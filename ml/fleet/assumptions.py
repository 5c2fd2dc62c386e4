"""The fleet in numbers. Each constant carries its source or the word "assumed"."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

MARKET_RANK_OFFSET: Final = 71
MARKET_RANK_EXPONENT: Final = -3
"""SoC share ∝ (rank + 71)⁻³. Source: fitted to Wu et al., HPCA 2019, fig. 3 (30 SoCs 51 %, 50 65 %, 225 95 %)."""

ANDROID_SHARE: Final = MappingProxyType(
    {35: 0.04, 34: 0.27, 33: 0.17, 32: 0.03, 31: 0.10, 30: 0.16, 29: 0.10, 28: 0.06, 27: 0.07}
)
"""API level → share of modelled phones. Source: Android Studio distribution, 2025 (12 and 12L split 10 : 3, assumed)."""

NNAPI_LEVEL_OF_API: Final = MappingProxyType(
    {
        27: 27,
        28: 28,
        29: 29,
        30: 30,
        31: 31,
        32: 1_000_006,
        33: 1_000_007,
        34: 1_000_008,
        35: 1_000_008,
        36: 1_000_008,
        37: 1_000_008,
    }
)
"""Raw runtime feature level by API level. With ANDROID_SHARE this gives FL1–2 13 % (4 % of them without NNAPI), FL3
10 %, FL4 16 %, FL5–6 13 %, FL7 17 %, FL8 31 %. Source for the levels: AOSP NeuralNetworksTypes.h; for the shares the
same distribution, runtime assumed to be updated with Android."""

MEASURED_SHARE: Final = 0.40
"""Share of phones with measured latencies; the others are modelled. Assumed."""

FAULT_FLOOR_SHARE: Final = 0.022
"""Least share of all phones that each fault's classes get, so that a fleet of 300 has some. Assumed."""

WINDOW_NOISE: Final = ((0.92, 0.04), (0.08, 0.25))
"""(share of windows, standard deviation of log latency). Source: re-measured AI Hub jobs, ± 10 % in 80–87 %."""

RUN_JITTER: Final = 0.03
"""Standard deviation of log latency between runs of one window. Assumed."""

SLOW_RUN_SHARE: Final = 0.01
SLOW_RUN_FACTOR: Final = 2.5
"""A run that a scheduler or the garbage collector interrupts. Assumed."""

RUNS_A_WINDOW: Final = (3.4, 0.8)
"""Mean and standard deviation of log runs in a window, cut to 5…300: sessions of few to hundreds. Assumed."""

CACHE_HIT_SHARE: Final = 0.8
"""Starts that find a compile cache. Assumed: an app starts more often than a driver or a model changes."""

SESSION_MINUTES: Final = 30.0
HOT_AFTER_MINUTES: Final = 5.0
"""A sustained session, and the minute from which a phone is hot. Source: 10 → 18 ms after five minutes (NNAPI field
guide), 196 → 400 ms in a session of 30 (microsoft/MegaDetector#34)."""

SUSTAINED_FACTOR: Final = 1.1
"""Heat on a phone without a step. Source: Dimensity 900, 540 → 600 ms (microsoft/MegaDetector#34)."""

FAST_PREFERENCE_FACTOR: Final = 0.98
"""`fast_single_answer` against `sustained_speed`. Source: under 3 % (NNAPI field guide)."""

SHARED_BUFFER_FACTOR: Final = 0.8
"""Hand-overs and dispatch with AHardwareBuffer against copies. Source: about 20 % (NNAPI field guide)."""

GPU_INT8_FACTOR: Final = 1.4
"""INT8 against FP16 on a GPU without INT8 units. Source: 40 % slower (NNAPI field guide)."""

PHANTOM_FACTOR: Final = 1.08
"""A driver that runs on the CPU against XNNPACK. Assumed: "NNAPI ≈ forced CPU"."""

LATE_DAYS_P95: Final = 2.0
DUPLICATE_SHARE: Final = 0.01
CLOCK_OFF_HOUR_SHARE: Final = 0.01
CLOCK_OFF_DAY_SHARE: Final = 0.001
"""Transport of telemetry: 95 % of records within two days (field reports of app telemetry); duplicates and clocks assumed."""

GOLDEN_CHECKS: Final = 2
GOLDEN_ERROR: Final = MappingProxyType({"fp32": 2e-6, "fp16": 8e-4, "int8": 4e-3})
"""Largest relative error of a sound execution, by precision. Assumed."""

IGNORED_ZERO_POINT_ERROR: Final = 0.31
"""The same where a driver ignores the zero point. Assumed; the source gives only F1 0.71 against 0.83."""
