"""The out-of-the-box rule: an order of arms before anything was measured.

From the NNAPI field guide §3.2: at 95 % coverage the accelerator leads and the CPU catches; at 70 % and below the CPU
runs it; in between only if the cuts cost under 5 % of the run. The numbers stand in the policy document.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from policies.arm import Arm
from policies.document import Thresholds
from policies.fingerprint import Fingerprint
from policies.model import ModelSpec
from policies.vocabulary import VENDOR_DELEGATES, Delegate, Format, Precision


@dataclass(frozen=True, slots=True)
class ArmCoverage:
    """Share of operations the delegate takes, the cuts between its partitions and the CPU, and how that is known.

    `share` is None where nothing is known. `basis`: "measured" on this driver, "mapped" by feature level, "unknown".
    """

    share: float | None
    cuts: int
    basis: str


UNKNOWN_COVERAGE: Final = ArmCoverage(None, 0, "unknown")


@dataclass(frozen=True, slots=True)
class Placed:
    """An arm and why it stands where it stands."""

    arm: Arm
    tier: int
    because: str


LEADS, AFFORDABLE, CPU, GPU, NOT_USED = range(5)

_INTEGER_FIRST: Final = (
    Precision.INT8, Precision.MIXED, Precision.INT16X8, Precision.MIXED_INT16, Precision.INT16X8_MIXED, Precision.INT16X4,
    Precision.MIXED_FLOAT, Precision.INT16X8_MIXED_FLOAT, Precision.FP16, Precision.FP32, Precision.INT8_DYNAMIC,
)  # fmt: skip
_FLOAT_FIRST: Final = (
    Precision.FP16, Precision.FP32, Precision.MIXED_FLOAT, Precision.INT16X8_MIXED_FLOAT, Precision.INT8, Precision.MIXED,
    Precision.INT16X8, Precision.MIXED_INT16, Precision.INT16X8_MIXED, Precision.INT16X4, Precision.INT8_DYNAMIC,
)  # fmt: skip
_CPU_FIRST: Final = (Precision.INT8, Precision.INT8_DYNAMIC, Precision.FP32, Precision.FP16)
# What is compiled ahead of time starts soonest; assumed equal otherwise.
_FORMAT_ORDER: Final = (
    Format.QNN_CONTEXT, Format.DLC, Format.TFLITE, Format.ONNX_EPCONTEXT, Format.ONNX, Format.PTE, Format.PTL,
)  # fmt: skip


def place(
    arms: Iterable[Arm],
    model: ModelSpec,
    fingerprint: Fingerprint,
    coverage: Mapping[str, ArmCoverage],
    thresholds: Thresholds,
) -> list[Placed]:
    """All arms, best guess first; NOT_USED ones last, so that an explanation can name them."""
    placed = [_place(arm, model, coverage.get(arm.id, UNKNOWN_COVERAGE), thresholds) for arm in arms]
    transformer = model.transformer_like
    return sorted(placed, key=lambda p: _order(p, fingerprint, coverage, transformer))


def _place(arm: Arm, model: ModelSpec, coverage: ArmCoverage, thresholds: Thresholds) -> Placed:
    if arm.delegate is Delegate.CPU:
        return Placed(arm, CPU, "the CPU always works")
    if arm.accelerator is not None and arm.accelerator.no_faster_than_cpu:
        return Placed(arm, NOT_USED, "the probe measured it to be no faster than NNAPI's own CPU")
    if arm.delegate is Delegate.GPU or (arm.accelerator is not None and arm.accelerator.kind == "gpu"):
        return Placed(arm, GPU, "a GPU catches an accelerator; the median phone's GPU is no faster than its CPU")
    if coverage.share is None:
        return _place_unknown(arm)
    text = f"{coverage.share:.0%} of operations ({coverage.basis})"
    if coverage.share >= thresholds.lead_coverage:
        return Placed(arm, LEADS, f"{text}: leads from {thresholds.lead_coverage:.0%}")
    if coverage.share <= thresholds.cpu_coverage:
        return Placed(arm, NOT_USED, f"{text}: not used up to {thresholds.cpu_coverage:.0%}")
    # Before any measurement the run is taken to last as long as its latency target.
    share = coverage.cuts * thresholds.cut_cost_ms / model.latency_target_ms
    if share <= thresholds.cut_cost_share:
        return Placed(arm, AFFORDABLE, f"{text}: {coverage.cuts} cuts take {share:.1%} of the target")
    return Placed(arm, NOT_USED, f"{text}: {coverage.cuts} cuts take {share:.1%} of the target, more than allowed")


def _place_unknown(arm: Arm) -> Placed:
    """A vendor runtime that was seen to load takes its own vendor's conversion whole; an NNAPI driver may not."""
    if arm.delegate in VENDOR_DELEGATES:
        return Placed(arm, LEADS, "the vendor's runtime loads; its coverage is unknown")
    return Placed(arm, NOT_USED, "which operations the driver takes is unknown")


def _order(
    placed: Placed, fingerprint: Fingerprint, coverage: Mapping[str, ArmCoverage], transformer: bool
) -> tuple[int, bool, int, float, int, str]:
    arm = placed.arm
    share = coverage.get(arm.id, UNKNOWN_COVERAGE).share
    not_vendor = transformer and arm.delegate not in VENDOR_DELEGATES
    precisions = _precisions(arm, fingerprint)
    rank = precisions.index(arm.variant.precision) if arm.variant.precision in precisions else len(precisions)
    formats = _FORMAT_ORDER.index(arm.variant.format)
    return placed.tier, not_vendor, rank, -(share if share is not None else 1.0), formats, arm.id


def _precisions(arm: Arm, fingerprint: Fingerprint) -> tuple[Precision, ...]:
    """An FP16-capable NPU gets FP16 before emulated INT8; a GPU has no INT8 units; a CPU is fastest in INT8."""
    if arm.delegate is Delegate.CPU:
        return _CPU_FIRST
    if arm.delegate is Delegate.GPU:
        return _FLOAT_FIRST
    if arm.accelerator is not None:
        fp16, int8 = arm.accelerator.fp16, arm.accelerator.int8
    else:
        fp16, int8 = fingerprint.hints.get("npu_fp16") == 1.0, True
    return _FLOAT_FIRST if fp16 and not int8 else _INTEGER_FIRST
