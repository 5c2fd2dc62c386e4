"""Coverage of a model file under an assumed support: what `nnfleet coverage` prints."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

from policies.coverage import Coverage, all_but, coverage
from service.registry.tflite import read_tflite


class FileCoverage(TypedDict):
    """Node counts as LiteRT logs them, the sizes of its partitions in execution order, and what stays behind."""

    nodes: int
    supported_nodes: int
    partition_sizes: list[int]
    cut_count: int
    blockers: dict[str, int]


def coverage_of_file(path: Path, unsupported: str) -> FileCoverage:
    """Coverage of the `.tflite` file by a delegate that takes all but `unsupported`.

    `unsupported` is a list of `OPERATION|activation type` with commas between, or "". Every partition counts, also
    the small ones. Raises OSError where the file cannot be read, ModelFileError where it is no model, and
    ValueError for a key that is not of that form.
    """
    support = all_but(parse_keys(unsupported))
    return _as_json(coverage(read_tflite(path.read_bytes()).graph, support))


def parse_keys(text: str) -> frozenset[str]:
    """Keys of a list like `PRELU|float32, ADD|float32`; raises ValueError for one that is not of that form."""
    keys = frozenset(key.strip() for key in text.split(",") if key.strip())
    for key in keys:
        operation, bar, activation = key.partition("|")
        if not (operation and bar and activation):
            raise ValueError(f"{key!r} is not of the form OPERATION|activation type")
    return keys


def _as_json(found: Coverage) -> FileCoverage:
    return {
        "nodes": found.nodes,
        "supported_nodes": found.supported_nodes,
        "partition_sizes": list(found.partitions),
        "cut_count": found.cut_count,
        "blockers": dict(found.blockers),
    }
