"""How long the probe takes on a phone of doubles whose drivers answer at once: `python -m tests.probe.stopwatch`."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from tests.probe.probe_builders import BuiltProbe, accelerator, script

RUNS = 5


def main() -> None:
    """Print the median of a few probings, and the size of the report."""
    build = Path(__file__).parents[2] / "client_sdk" / "probe" / "build" / "host"
    with tempfile.TemporaryDirectory() as work:
        probe = BuiltProbe(build, emulated=False, work=Path(work))
        said = script(accelerator(), accelerator(name="google-armnn", takes="TENSOR_FLOAT32 TENSOR_FLOAT16"))
        times_ms = []
        for _ in range(RUNS):
            start = time.perf_counter()
            body = probe.report_bytes(said)
            times_ms.append((time.perf_counter() - start) * 1000)
    print(f"three devices, 106 operations: {statistics.median(times_ms):.0f} ms, a report of {len(body):,} bytes")


if __name__ == "__main__":
    main()
