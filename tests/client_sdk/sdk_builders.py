"""Valid objects for the client's tests; a test names only what matters to it."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from nnfleet_client import ArmFailed, Executed, FleetClient, GoldenResult, Init, Settings, Transport

REPORT = b'{"schema": 1, "device": {"model": "Pixel 10a"}}'
NPU, GPU, CPU = "int8.tflite.nnapi.google-edgetpu", "fp16.tflite.gpu", "fp32.tflite.cpu"
START_S = 1_780_000_000.0
DAY_S = 86_400
DEFAULT = {"segmentation": {CPU: {"runtime": "litert", "delegate": "cpu"}}}


@dataclass
class ManualClock:
    """A clock that moves when told to."""

    wall_s: float = START_S
    steady_s: float = 1_000.0

    def now_s(self) -> float:
        return self.wall_s

    def monotonic_s(self) -> float:
        return self.steady_s

    def pass_s(self, seconds: float) -> None:
        self.wall_s += seconds
        self.steady_s += seconds


def arm(delegate: str, accelerator: str | None = None, **settings: Any) -> dict[str, Any]:
    named = {} if accelerator is None else {"accelerator": accelerator}
    return {"runtime": "litert", "delegate": delegate, **named, **settings}


ARMS: Mapping[str, dict[str, Any]] = {NPU: arm("nnapi", "google-edgetpu"), GPU: arm("gpu"), CPU: arm("cpu")}


def split(weight: int, *ladder: str, explore: bool = False) -> dict[str, Any]:
    return {"weight": weight, "ladder": list(ladder), "explore": explore}


def make_model(splits: list[dict[str, Any]] | None = None, **changes: Any) -> dict[str, Any]:
    plan = {"salt": "seg-7", "hash": "murmur3-32/1", "splits": splits or [split(10_000, NPU, GPU, CPU)]}
    return {"situations": [{"when": {}, "plan": "main"}], "plans": {"main": plan}, "arms": dict(ARMS)} | changes


def make_document(model: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    return {
        "schema": 1,
        "app": "camera",
        "release": 41,
        "issued_at": "2026-05-28T00:00:00Z",
        "expires_at": "2026-06-27T00:00:00Z",
        "models": {"segmentation": model or make_model()},
        "telemetry": {"sample": 1.0, "flush_s": 3600},
        "advice": [],
    } | changes


@dataclass
class FakeServer:
    """The four endpoints as a handler for httpx.MockTransport; keeps what it was sent."""

    document: dict[str, Any] = field(default_factory=make_document)
    headers: dict[str, str] = field(default_factory=lambda: {"Cache-Control": "public, max-age=60"})
    fault: Callable[[httpx.Request], httpx.Response | None] = lambda request: None
    known_reports: set[str] = field(default_factory=set)
    requests: list[httpx.Request] = field(default_factory=list)
    records: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        fault = self.fault(request)
        if fault is not None:
            return fault
        routes = {"GET": self._decision, "PUT": self._report, "POST": self._telemetry}
        return routes[request.method](request)

    @property
    def calls(self) -> list[str]:
        return [request.method for request in self.requests]

    def _decision(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.rpartition("/")[2] not in self.known_reports:
            return problem(404, "unknown-report")
        body = json.dumps(self.document).encode()
        etag = f'"{self.document["release"]}"'
        if request.headers.get("if-none-match") == etag:
            return httpx.Response(304, headers={"ETag": etag, **self.headers})
        return httpx.Response(200, content=body, headers={"ETag": etag, **self.headers})

    def _report(self, request: httpx.Request) -> httpx.Response:
        self.known_reports.add(request.url.path.rpartition("/")[2])
        return httpx.Response(201)

    def _telemetry(self, request: httpx.Request) -> httpx.Response:
        records = sent_records(request)
        new = {record["record_id"]: record for record in records if record["record_id"] not in self.records}
        self.records |= new
        verdicts = {"accepted": len(new), "duplicate": len(records) - len(new), "set_aside": [], "rejected": []}
        return httpx.Response(200, json=verdicts)


def problem(status: int, code: str, headers: Mapping[str, str] | None = None, **more: Any) -> httpx.Response:
    content = json.dumps({"type": "about:blank", "status": status, "code": code, **more})
    return httpx.Response(
        status, content=content, headers={"Content-Type": "application/problem+json", **(headers or {})}
    )


def sent_records(request: httpx.Request) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(request.content).splitlines()]


def make_transport(server: Callable[[httpx.Request], httpx.Response], **settings: Any) -> Transport:
    return Transport("http://fleet.test", http=httpx.Client(transport=httpx.MockTransport(server)), **settings)


def make_client(
    server: Callable[[httpx.Request], httpx.Response] | Transport | None = None,
    clock: ManualClock | None = None,
    seed: int = 1,
    **changes: Any,
) -> FleetClient:
    arguments: dict[str, Any] = {
        "app": "camera",
        "report": REPORT,
        "default": DEFAULT,
        "server": server if isinstance(server, Transport) else make_transport(server or FakeServer()),
        "unit_id": "unit-1",
        "clock": clock or ManualClock(),
        "rng": random.Random(seed),
        "settings": Settings(),
    }
    return FleetClient(**(arguments | changes))


@dataclass
class FakeSession:
    """A session that runs in 1,500 µs unless a trouble is given: an exception for the n-th run, say."""

    latency_us: int = 1_500
    trouble_at_run: Mapping[int, BaseException] = field(default_factory=dict)
    golden_result: GoldenResult | None = None
    close_trouble: Exception | None = None
    runs: int = 0
    closed: int = 0
    init: Init = field(default_factory=lambda: Init(load_us=900, compile_us=45_100, cache_hit=False))
    executed: Executed = field(default_factory=lambda: Executed("TfLiteNnapiDelegate", 64, 64, 1))

    def run(self) -> int:
        self.runs += 1
        if self.runs in self.trouble_at_run:
            raise self.trouble_at_run[self.runs]
        return self.latency_us

    def golden(self) -> GoldenResult | None:
        return self.golden_result

    def close(self) -> None:
        self.closed += 1
        if self.close_trouble is not None:
            raise self.close_trouble


@dataclass
class FakeRunner:
    """Starts arms by id: a session, or an exception to raise. An arm that is not named runs well."""

    arms: Mapping[str, FakeSession | BaseException] = field(default_factory=dict)
    started: list[str] = field(default_factory=list)
    on_start: Callable[[str], None] = lambda arm_id: None

    def start(self, model: str, arm_id: str, arm: Mapping[str, Any]) -> FakeSession:
        self.started.append(arm_id)
        self.on_start(arm_id)
        session = self.arms.get(arm_id, FakeSession())
        if isinstance(session, BaseException):
            raise session
        return session


def dead_object() -> ArmFailed:
    return ArmFailed("compile", "ANEURALNETWORKS_DEAD_OBJECT")


def always(response: Callable[[], httpx.Response]) -> Callable[[httpx.Request], httpx.Response | None]:
    return lambda request: response()


def network_down(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("no route", request=request)


def too_slow(request: httpx.Request) -> httpx.Response:
    raise httpx.ReadTimeout("too slow", request=request)
