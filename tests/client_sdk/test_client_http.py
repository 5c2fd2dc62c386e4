"""The client against a real HTTP server on loopback: connections, conditional requests, a server that goes away."""

from __future__ import annotations

import gzip
import json
import random
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest
from sdk_builders import DEFAULT, NPU, FakeRunner, ManualClock, make_document

from nnfleet_client import FleetClient, Reason, Transport


class Handler(BaseHTTPRequestHandler):
    """Three routes over a dict of reports and a list of records, both on the server object."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer in one piece: head and body apart would wait for the client's delayed acknowledgement
    server: Fleet

    def do_GET(self) -> None:
        if self.path.rpartition("/")[2] not in self.server.reports:
            self.answer(404, {"code": "unknown-report"}, {"Content-Type": "application/problem+json"})
        elif self.headers.get("If-None-Match") == '"r41"':
            self.answer(304, None, {"ETag": '"r41"'})
        else:
            self.answer(200, make_document(), {"ETag": '"r41"', "Cache-Control": "max-age=60"})

    def do_PUT(self) -> None:
        self.server.reports[self.path.rpartition("/")[2]] = self.body()
        self.answer(201, None, {})

    def do_POST(self) -> None:
        records = [json.loads(line) for line in gzip.decompress(self.body()).splitlines()]
        self.server.records.extend(records)
        self.answer(200, {"accepted": len(records), "duplicate": 0, "set_aside": [], "rejected": []}, {})

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers["Content-Length"]))

    def answer(self, status: int, body: Any, headers: dict[str, str]) -> None:
        content = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(content))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the name that http.server gives it
        pass


class Fleet(ThreadingHTTPServer):
    """The server and what it was told."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.reports: dict[str, bytes] = {}
        self.records: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"


@pytest.fixture
def fleet() -> Iterator[Fleet]:
    server = Fleet()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def phone(server: str | Transport, number: int, clock: ManualClock) -> FleetClient:
    return FleetClient(
        app="camera",
        report=json.dumps({"schema": 1, "phone": number}).encode(),
        default=DEFAULT,
        server=server,
        unit_id=f"unit-{number}",
        clock=clock,
        rng=random.Random(number),
    )


def test_ask_use_report_and_ask_again(fleet: Fleet) -> None:
    clock = ManualClock()
    client = phone(fleet.url, 1, clock)
    assert client.refresh().reason is Reason.FRESH
    assert client.use("segmentation", FakeRunner(), 30).arm_id == NPU
    assert client.flush().accepted == 1
    clock.pass_s(100)
    assert client.refresh().reason is Reason.NOT_MODIFIED
    assert fleet.reports[client.report_id] == b'{"schema": 1, "phone": 1}'
    assert [record["runs"]["count"] for record in fleet.records] == [30]
    client.close()


def test_a_hundred_phones_share_one_transport_and_closing_one_leaves_it_open(fleet: Fleet) -> None:
    seen: list[int | None] = []
    clock = ManualClock()
    with httpx.Client() as http:
        transport = Transport(
            fleet.url, http=http, on_http=lambda method, route, status, elapsed_ms: seen.append(status)
        )
        phones = [phone(transport, number, clock) for number in range(100)]
        threads = threading.active_count()
        for client in phones:
            client.refresh()
            client.use("segmentation", FakeRunner(), 5)
            client.flush()
            client.close()
            transport.close()
        assert threading.active_count() <= threads + 2  # the server's own: no phone starts one
    assert len(fleet.reports) == 100
    assert len(fleet.records) == 100
    assert seen.count(None) == 0
    assert len(seen) == 400


def test_a_server_that_goes_away_leaves_the_last_good_document() -> None:
    server = Fleet()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    clock = ManualClock()
    client = phone(server.url, 1, clock)
    client.refresh()
    client.close()
    server.shutdown()
    server.server_close()
    thread.join()
    orphan = phone(server.url, 1, clock)
    assert orphan.refresh().error_code == "network"
    assert client.decision("segmentation").release == 41
    orphan.close()
