"""What is wrong with a model file, or will cost it its accelerator: one check a kind of trouble, each a pure function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

from service.registry.lint import islands, quantisation, structure, targets
from service.registry.lint.remark import Remark
from service.registry.model_file import ModelFile

Check = Callable[[ModelFile], Iterator[Remark]]
MOST_PLACES: Final = 20
"""Remarks of one check: whoever has so many of a kind needs no more to know what it is."""

CHECKS: Final[tuple[Check, ...]] = (
    quantisation.impossible,
    quantisation.missing,
    quantisation.asymmetric_weights,
    quantisation.scales_that_differ,
    islands.float_islands,
    targets.without_target,
    structure.control_flow,
    structure.dynamic_sizes,
    structure.external_data,
    structure.transformer_like,
)


def lint(model: ModelFile) -> list[Remark]:
    """All remarks, at most `MOST_PLACES` of a check, in the order of the checks and of the file."""
    return [remark for check in CHECKS for remark in islice(check(model), MOST_PLACES)]
