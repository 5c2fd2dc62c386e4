"""Files that were built for chips which cannot run them: told when a model is stated.

Not part of the types: what is stored stays readable when the catalogue learns more of a chip.
"""

from __future__ import annotations

from typing import Final

from policies import catalog
from policies.errors import InvalidField
from policies.model import ModelSpec, Variant
from policies.vocabulary import FLOATS, Format

_NPU_ONLY: Final = frozenset({Format.DLC, Format.QNN_CONTEXT, Format.ONNX_EPCONTEXT})
"""Formats that nothing but a vendor's NPU loads."""


def check_targets(spec: ModelSpec) -> None:
    """Raises InvalidField for the first float file that is for an NPU which computes in integers only."""
    for place, variant in enumerate(spec.variants):
        unfit = [soc for soc in variant.targets if _needs_floats(variant) and _integers_only(soc)]
        if unfit:
            field = f"variants.{place}.targets"
            detail = (
                f"{field}: the NPU of {', '.join(unfit)} computes in integers only, this file in {variant.precision}"
            )
            raise InvalidField(detail, field=field, expected="chips whose NPU computes in floating point")


def _needs_floats(variant: Variant) -> bool:
    return variant.format in _NPU_ONLY and variant.precision in FLOATS


def _integers_only(soc: str) -> bool:
    entry = catalog.socs().entries.get(soc)
    return entry is not None and entry.npu is not None and entry.npu.fp16 is False
