"""What one learning run leaves to the next: each population's variances, refitted only once it has grown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Self

import numpy as np

from ml.array_file import Kind, packed, unpacked
from ml.model_file import feature_digest
from ml.refit import ADAPT_FROM, adapted
from ml.table import Table

KIND: Final = Kind("nnfleet-variances", 1, feature_digest())
GROWTH: Final = 1.2
"""Measured cells over those at the last fit from which variances are fitted anew: they change slowly (assumed)."""


@dataclass(frozen=True)
class Fitted:
    """One population as it was fitted: its device classes, how many cells were measured, the variance by term."""

    classes: frozenset[str]
    cells: int
    variances: dict[str, float]


@dataclass
class Memory:
    """Variances that the last run left (`before`), and those of this run (`now`). `kept` counts those taken over."""

    before: tuple[Fitted, ...] = ()
    now: list[Fitted] = field(default_factory=list)
    kept: int = 0

    @classmethod
    def of(cls, content: bytes) -> Self:
        """From the file of the last run. Raises ModelFileError where it is damaged, changed or of another version."""
        facts, arrays = unpacked(content, KIND)
        rows = zip(facts["populations"], arrays["variances"].tolist(), strict=True)
        return cls(
            tuple(
                Fitted(frozenset(one["classes"]), one["cells"], dict(zip(facts["terms"], row, strict=True)))
                for one, row in rows
            )
        )

    def variances(self, measured: Table, seed: int) -> dict[str, float]:
        """Those of the population that shares most device classes, while it has not grown by a fifth; else new ones."""
        classes = frozenset(np.unique(measured.chipset).tolist())
        last = max(self.before, key=lambda one: len(one.classes & classes), default=None)
        if last is not None and last.classes & classes and ADAPT_FROM <= len(measured) < GROWTH * last.cells:
            self.kept += 1
            self.now.append(last)
        else:
            self.now.append(Fitted(classes, len(measured), adapted(measured, seed)))
        return self.now[-1].variances

    def to_bytes(self) -> bytes:
        """The file for the next run."""
        terms = sorted({term for one in self.now for term in one.variances})
        rows = [[one.variances[term] for term in terms] for one in self.now]
        facts = {
            "terms": terms,
            "populations": [{"classes": sorted(one.classes), "cells": one.cells} for one in self.now],
        }
        return packed(KIND, facts, {"variances": np.array(rows, dtype=np.float64).reshape(len(rows), len(terms))})

    def to_json(self) -> dict[str, Any]:
        """Evidence of the run: populations, how many kept the variances of the run before."""
        return {"populations": len(self.now), "kept": self.kept}
