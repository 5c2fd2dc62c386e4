"""What the Python SDK costs an app: `make bench`, or `python -m tests.bench.sdk`.

CPU time in this process, the fastest of several rounds. The baselines: reading the document anew for each decision, and the
same runs without the SDK around them, each timed and kept in a list, as an app would.
"""

from __future__ import annotations

import gc
import json
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx

from nnfleet_client import Executed, FleetClient, GoldenResult, Init, Settings, Transport
from tests.bench.goals import at_most

GOAL_DECISION_MS: Final = 1.0
GOAL_TELEMETRY_US: Final = 5.0
GOAL_GROWTH_BYTES: Final = 1_024
RUNS_A_USE, USES, DECISIONS, ROUNDS = 1_000, 10, 2_000, 7
"""A thousand runs: half a minute of a camera at 30 frames a second, as one window."""
MODELS: Final = 8
REPORT: Final = b'{"schema": 1}'
CPU: Final = {"runtime": "litert", "delegate": "cpu", "warmup_runs": 0}


def document() -> bytes:
    """A decision of eight models, each with two situations and three splits."""
    splits = [{"weight": 9_000, "ladder": ["npu", "cpu"]}, {"weight": 1_000, "ladder": ["cpu"], "explore": True}]
    plan = {"salt": "s", "hash": "murmur3-32/1", "splits": splits}
    hot = {"when": {"workload": "sustained", "thermal_at_least": "moderate"}, "plan": "cool"}
    model = {
        "situations": [hot, {"when": {}, "plan": "main"}],
        "plans": {"main": plan, "cool": plan},
        "arms": {"npu": CPU | {"delegate": "nnapi", "accelerator": "npu"}, "cpu": CPU},
    }
    return json.dumps(
        {
            "schema": 1,
            "app": "camera",
            "release": 7,
            "issued_at": "2026-01-01T00:00:00Z",
            "expires_at": "2099-01-01T00:00:00Z",
            "models": {f"model-{n}": model for n in range(MODELS)},
            "telemetry": {"sample": 1.0, "flush_s": 3600},
            "advice": [],
        }
    ).encode()


class Session:
    """An arm that costs nothing."""

    init = Init(900, 45_000, False, 4_000)
    executed = Executed("nnapi:npu", 64, 64, 1)

    def run(self) -> int:
        """One latency."""
        return 1_234

    def golden(self) -> GoldenResult | None:
        """No reference."""
        return None

    def close(self) -> None:
        """Nothing to free."""


class Runner:
    """Starts it."""

    def start(self, model: str, arm_id: str, arm: Mapping[str, Any]) -> Session:
        """Start it."""
        return Session()


def make_client(folder: Path | None) -> FleetClient:
    """A client that has the document, all of it in memory but for what `folder` keeps."""
    http = httpx.Client(transport=httpx.MockTransport(lambda _: httpx.Response(200, content=document())))
    default = {f"model-{n}": {"cpu": CPU} for n in range(MODELS)}
    client = FleetClient(
        app="camera",
        report=REPORT,
        default=default,
        server=Transport("http://fleet.test", http=http),
        unit_id="unit-1",
        settings=Settings(folder=folder),
    )
    client.refresh()
    return client


def cpu_us(works: Sequence[Callable[[], object]], times: int) -> list[float]:
    """CPU of one call of each in µs, in its fastest round; they take turns, so that all see the same machine."""
    took: list[list[float]] = [[] for _ in works]
    for _ in range(ROUNDS):
        for work, found in zip(works, took, strict=True):
            work()
            start = time.process_time()
            for _ in range(times):
                work()
            found.append(1e6 * (time.process_time() - start) / times)
    return [min(found) for found in took]


def bare_use() -> list[int]:
    """What an app does without the SDK."""
    session, latencies = Session(), []
    for _ in range(RUNS_A_USE):
        start = time.perf_counter_ns()
        session.run()
        latencies.append(time.perf_counter_ns() - start)
    return latencies


def use_of(client: FleetClient, runs: int) -> Callable[[], object]:
    """A use of so many runs."""
    return lambda: client.use("model-3", Runner(), runs)


def growth_bytes(work: Callable[[], object]) -> int:
    """How much more memory is held after many calls."""
    for _ in range(DECISIONS):
        work()
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for _ in range(DECISIONS):
        work()
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return after - before


def main() -> None:
    """Print what a decision and a run cost."""
    body, client = document(), make_client(None)
    decide = lambda: client.decision("model-3", workload="burst", thermal="light")  # noqa: E731
    decision, reading = cpu_us([decide, lambda: json.loads(body)], DECISIONS)
    print(
        f"a decision from memory: {decision:.1f} µs CPU, {decision / reading:.2f} × reading its document "
        f"({at_most(decision / 1e3, GOAL_DECISION_MS, 'ms')})"
    )
    grown = growth_bytes(decide)
    print(f"{DECISIONS:,} decisions later: {grown:,} bytes more ({at_most(grown, GOAL_GROWTH_BYTES, 'bytes')})")
    with TemporaryDirectory() as folder:
        on_disk = make_client(Path(folder))
        whole, start, bare = cpu_us([use_of(on_disk, RUNS_A_USE), use_of(on_disk, 1), bare_use], USES)
    a_run = (whole - bare) / RUNS_A_USE
    print(
        f"telemetry of a run, in windows of {RUNS_A_USE:,} on disk: {a_run:.2f} µs CPU, {whole / bare:.1f} × timing the "
        f"runs alone ({at_most(a_run, GOAL_TELEMETRY_US, 'µs')}); {start / 1e3:.2f} ms of a window are its marks on disk"
    )


if __name__ == "__main__":
    main()
