"""Operations that stay behind on every phone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from policies.support import support_by_level
from policies.vocabulary import FEATURE_LEVEL_VALUES, Format
from service.registry.lint.remark import Remark, Weight, operation_at
from service.registry.model_file import CONTROL_FLOW, ModelFile

_NEWEST: Final = support_by_level(len(FEATURE_LEVEL_VALUES))
_UNPACKS: Final = frozenset({"DEQUANTIZE", "DENSIFY"})
"""Of weights: delegates fold it away."""


def without_target(model: ModelFile) -> Iterator[Remark]:
    """`.tflite` operations that no runtime or no NNAPI level takes; each key once, at its first place."""
    if model.format is not Format.TFLITE:
        return
    counts = Counter(node.key for node in model.graph.nodes)
    first = {node.key: at for at, node in reversed(list(enumerate(model.graph.nodes)))}
    for key in counts:
        op = key.partition("|")[0]
        times = f"{key}, {counts[key]} ×"
        if op.startswith("CUSTOM:"):
            advice = f"{times}: only an app that registers it can run the model, and no accelerator takes it"
            yield Remark("custom-operation", Weight.WARNING, operation_at(model, first[key]), advice)
        elif op.startswith("BUILTIN_"):
            advice = f"{times}: newer than what this service knows, and than the runtime in most apps"
            yield Remark("unknown-operation", Weight.WARNING, operation_at(model, first[key]), advice)
        elif op not in CONTROL_FLOW | _UNPACKS and _NEWEST(key) is False:
            advice = f"{times}: no feature level of NNAPI has it, so that it stays on the CPU and cuts the graph"
            yield Remark("not-in-nnapi", Weight.NOTE, operation_at(model, first[key]), advice)
