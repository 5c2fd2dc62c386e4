"""What was read from a model file. Light: the web process gets it from the child that reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from policies.graph import ModelGraph
from policies.vocabulary import Format, Precision


@dataclass(frozen=True, slots=True)
class Inspected:
    """What was read from a file. `facts` is plain JSON, for people; the rest is what a variant states."""

    format: Format
    precision: Precision
    graph: ModelGraph
    facts: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, the inverse of `from_json`."""
        return {
            "format": self.format,
            "precision": self.precision,
            "graph": self.graph.to_json(),
            "facts": dict(self.facts),
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        """From `to_json`'s output."""
        graph = ModelGraph.from_json(raw["graph"])
        return cls(Format(raw["format"]), Precision(raw["precision"]), graph, raw["facts"])
