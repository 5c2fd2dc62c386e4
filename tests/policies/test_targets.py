"""A file is not stated for a chip that cannot run it (R-B4, R-F1)."""

from __future__ import annotations

import pytest
from builders import make_model, make_variant

from policies.errors import InvalidField
from policies.targets import check_targets


@pytest.mark.parametrize("file_format", ["qnn-context", "dlc", "onnx-epcontext"])
@pytest.mark.parametrize("precision", ["fp16", "fp32"])
def test_a_float_binary_for_an_npu_of_integers_is_refused_with_the_chip(file_format: str, precision: str) -> None:
    variant = make_variant(precision, file_format, targets=["sm8650", "qcs6490"])
    with pytest.raises(InvalidField) as refused:
        check_targets(make_model(variants=[make_variant(), variant]))
    assert refused.value.field == "variants.1.targets"
    assert "qcs6490" in refused.value.detail
    assert "sm8650" not in refused.value.detail


@pytest.mark.parametrize(
    "variant",
    [
        make_variant("int8", "qnn-context", targets=["qcs6490"]),
        make_variant("fp16", "tflite", targets=["qcs6490"]),
        make_variant("fp16", "qnn-context", targets=["sm8650"]),
        make_variant("fp16", "qnn-context", targets=["a-chip-that-is-new"]),
    ],
)
def test_what_could_run_or_what_nobody_knows_is_taken(variant: dict[str, object]) -> None:
    check_targets(make_model(variants=[variant]))
