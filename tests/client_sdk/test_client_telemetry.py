"""Sending observations (R-D6): retries never double, verdicts are obeyed, overload is waited out."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from sdk_builders import (
    START_S,
    FakeRunner,
    FakeServer,
    ManualClock,
    make_client,
    make_transport,
    problem,
    sent_records,
)

from nnfleet_client.buffer import Buffer
from nnfleet_client.record_id import record_id
from nnfleet_client.spool import Spool
from nnfleet_client.telemetry import MOST_REQUESTS, TelemetrySender

Handler = Callable[[httpx.Request], httpx.Response]


def make_sender(
    handler: Handler,
    count: int,
    clock: ManualClock | None = None,
    filling: str = "",
    upload_report: Callable[[], bool] = lambda: True,
) -> tuple[TelemetrySender, Buffer]:
    rng = random.Random(1)
    buffer = Buffer(Spool(None), 100_000, 64 * 1024 * 1024)
    for number in range(count):
        record = {"record_id": record_id(START_S, rng), "kind": "window", "number": number, "filling": filling}
        buffer.add(record)
    return TelemetrySender(buffer, make_transport(handler), clock or ManualClock(), rng, upload_report), buffer


def incompressible(size: int) -> str:
    return random.Random(2).randbytes(size).hex()


def accept_all(request: httpx.Request) -> httpx.Response:
    return httpx.Response(200, json={"accepted": len(sent_records(request)), "duplicate": 0})


def test_a_batch_is_gzipped_lines_of_json() -> None:
    server = FakeServer()
    sender, _ = make_sender(server, 3)
    sender.flush()
    (request,) = server.requests
    assert (request.method, request.url.path) == ("POST", "/v1/telemetry")
    assert request.headers["content-type"] == "application/x-ndjson"
    assert request.headers["content-encoding"] == "gzip"
    assert [record["number"] for record in sent_records(request)] == [0, 1, 2]


def test_nothing_to_send_asks_nothing() -> None:
    server = FakeServer()
    flushed = make_sender(server, 0)[0].flush()
    assert (server.calls, flushed.error_code) == ([], None)


def test_a_batch_holds_at_most_two_thousand_records() -> None:
    sizes: list[int] = []

    def note(request: httpx.Request) -> httpx.Response:
        sizes.append(len(sent_records(request)))
        return accept_all(request)

    flushed = make_sender(note, 4_500)[0].flush()
    assert (sizes, flushed.accepted, flushed.waiting) == ([2_000, 2_000, 500], 4_500, 0)


def test_a_batch_is_at_most_one_mebibyte_on_the_wire() -> None:
    sizes: list[int] = []

    def note(request: httpx.Request) -> httpx.Response:
        sizes.append(len(request.content))
        return accept_all(request)

    flushed = make_sender(note, 60, filling=incompressible(50_000))[0].flush()
    assert max(sizes) <= 1024 * 1024
    assert (len(sizes) > 1, flushed.accepted) == (True, 60)


def test_a_lost_answer_is_retried_with_the_same_ids() -> None:
    clock, server = ManualClock(), FakeServer()
    lost = iter([True])

    def lose_the_first_answer(request: httpx.Request) -> httpx.Response:
        answer = server(request)
        if next(lost, False):
            raise httpx.ReadTimeout("lost", request=request)
        return answer

    sender, buffer = make_sender(lose_the_first_answer, 3, clock)
    assert sender.flush().error_code == "timeout"
    assert len(buffer) == 3
    clock.pass_s(60)
    flushed = sender.flush()
    assert (flushed.accepted, flushed.duplicate, flushed.waiting) == (0, 3, 0)


def test_every_verdict_removes_its_record() -> None:
    def judge(request: httpx.Request) -> httpx.Response:
        records = sent_records(request)
        aside = [{"record_id": records[0]["record_id"], "reason": "latency-impossible"}]
        rejected = [{"index": 3, "reason": "unknown app"}]
        return httpx.Response(200, json={"accepted": 1, "duplicate": 1, "set_aside": aside, "rejected": rejected})

    flushed = make_sender(judge, 4)[0].flush()
    verdicts = (flushed.accepted, flushed.duplicate, flushed.set_aside, flushed.rejected)
    assert (verdicts, flushed.waiting, flushed.error_code) == ((1, 1, 1, 1), 0, None)


def test_records_without_a_verdict_are_kept_and_named_ones_are_not_sent_again() -> None:
    def judge_some(request: httpx.Request) -> httpx.Response:
        records = sent_records(request)
        aside = [{"record_id": records[0]["record_id"], "reason": "latency-impossible"}]
        return httpx.Response(200, json={"accepted": 0, "set_aside": aside, "rejected": [{"index": 1, "reason": "x"}]})

    sender, buffer = make_sender(judge_some, 5)
    flushed = sender.flush()
    assert (flushed.error_code, flushed.waiting) == ("verdicts-missing", 3)
    assert flushed.wait_s >= 30
    assert [json.loads(waiting.line)["number"] for waiting in buffer.next_batch(9, 10**6)] == [2, 3, 4]


class ServerWithoutReport:
    """Rejects every record until the report has been uploaded."""

    def __init__(self, upload_works: bool = True, learns: bool = True) -> None:
        self.uploads = 0
        self.upload_works = upload_works
        self.learns = learns

    def upload_report(self) -> bool:
        self.uploads += 1
        return self.upload_works

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if self.uploads and self.learns:
            return accept_all(request)
        count = len(sent_records(request))
        rejected = [{"index": index, "reason": "unknown-report"} for index in range(count)]
        return httpx.Response(200, json={"accepted": 0, "duplicate": 0, "set_aside": [], "rejected": rejected})


def test_records_of_a_report_that_the_server_does_not_have_are_sent_again_after_its_upload() -> None:
    server = ServerWithoutReport()
    flushed = make_sender(server, 3, upload_report=server.upload_report)[0].flush()
    assert (server.uploads, flushed.accepted, flushed.rejected, flushed.waiting) == (1, 3, 0, 0)


def test_a_report_that_cannot_be_uploaded_keeps_its_records() -> None:
    server = ServerWithoutReport(upload_works=False, learns=False)
    flushed = make_sender(server, 3, upload_report=server.upload_report)[0].flush()
    assert (flushed.error_code, flushed.rejected, flushed.waiting) == ("unknown-report", 0, 3)
    assert flushed.wait_s >= 30


def test_records_of_a_report_that_the_server_never_takes_are_given_up() -> None:
    server = ServerWithoutReport(learns=False)
    flushed = make_sender(server, 3, upload_report=server.upload_report)[0].flush()
    assert (server.uploads, flushed.rejected, flushed.waiting) == (1, 3, 0)


def test_a_phone_that_was_never_online_reports_before_it_ever_asked() -> None:
    server = FakeServer()

    def knows_reports_only(request: httpx.Request) -> httpx.Response | None:
        if request.method != "POST" or server.known_reports:
            return None
        return httpx.Response(200, json={"accepted": 0, "rejected": [{"index": 0, "reason": "unknown-report"}]})

    server.fault = knows_reports_only
    client = make_client(server)
    client.use("segmentation", FakeRunner(), 1)
    assert client.flush().accepted == 1
    assert server.calls == ["POST", "PUT", "POST"]


@pytest.mark.parametrize(
    "content",
    [
        b"<html>Sign in</html>",
        b"[]",
        b"{}",
        b'{"accepted": "all"}',
        b'{"accepted": 1, "rejected": [{"index": 99}]}',
        b'{"accepted": 1, "set_aside": 3}',
    ],
)
def test_an_answer_that_is_no_verdict_keeps_every_record(content: bytes) -> None:
    sender, buffer = make_sender(lambda request: httpx.Response(200, content=content), 3)
    assert sender.flush().error_code == "unreadable-verdicts"
    assert len(buffer) == 3


@pytest.mark.parametrize(
    ("response", "code"),
    [
        (lambda: httpx.Response(401), "http-401"),
        (lambda: httpx.Response(404), "http-404"),
        (lambda: httpx.Response(400, text="<html>a proxy</html>"), "http-400"),
        (lambda: httpx.Response(500), "http-500"),
        (lambda: httpx.Response(302), "http-302"),
        (lambda: problem(503, "overloaded"), "overloaded"),
    ],
    ids=["401", "404", "400 of a proxy", "500", "302", "503"],
)
def test_no_failure_loses_a_record_and_none_is_hammered(response: Callable[[], httpx.Response], code: str) -> None:
    calls: list[int] = []

    def fail(request: httpx.Request) -> httpx.Response:
        calls.append(1)
        return response()

    sender, buffer = make_sender(fail, 3)
    flushed = sender.flush()
    assert (flushed.error_code, flushed.waiting, len(buffer)) == (code, 3, 3)
    assert flushed.wait_s >= 30
    again = sender.flush()
    assert (again.error_code, len(calls)) == (code, 1)


@pytest.mark.parametrize("status", [429, 503])
def test_overload_is_waited_out_for_as_long_as_asked_and_spread(status: int) -> None:
    waits_s = []
    for seed in range(20):
        clock = ManualClock()
        server = FakeServer(fault=lambda request: httpx.Response(status, headers={"Retry-After": "120"}))
        client = make_client(server, clock, seed=seed)
        client.use("segmentation", FakeRunner(), 1)
        waits_s.append(client.flush().wait_s)
        clock.pass_s(119)
        assert client.flush().wait_s > 0
        assert len(server.calls) == 1
        server.fault = lambda request: None
        clock.pass_s(62)
        assert client.flush().accepted == 1
    assert min(waits_s) >= 120
    assert len(set(waits_s)) == 20


def test_telemetry_that_is_throttled_does_not_stop_decisions() -> None:
    server = FakeServer(fault=lambda request: httpx.Response(429) if request.method == "POST" else None)
    client = make_client(server)
    client.use("segmentation", FakeRunner(), 1)
    client.flush()
    assert client.refresh().error_code is None


def too_big_if(refused: Callable[[list[dict[str, Any]]], bool], status: int = 413, **more: Any) -> Handler:
    def handle(request: httpx.Request) -> httpx.Response:
        return problem(status, "too-large", **more) if refused(sent_records(request)) else accept_all(request)

    return handle


def test_a_batch_that_is_too_big_is_halved_until_it_fits() -> None:
    sender, _ = make_sender(too_big_if(lambda records: len(records) > 30), 100)
    flushed = sender.flush()
    assert (flushed.accepted, flushed.dropped, flushed.waiting) == (100, 0, 0)


def test_the_limit_that_the_server_names_is_kept_to() -> None:
    sizes: list[int] = []

    def handle(request: httpx.Request) -> httpx.Response:
        sizes.append(len(sent_records(request)))
        return problem(413, "too-large", limit_items=7) if sizes[-1] > 7 else accept_all(request)

    make_sender(handle, 20)[0].flush()
    assert sizes[:2] == [20, 7]


@pytest.mark.parametrize(("status", "why"), [(413, "too_big"), (400, "refused"), (422, "refused")])
def test_one_record_at_fault_is_dropped_and_counted_and_the_others_arrive(status: int, why: str) -> None:
    handler = too_big_if(lambda records: any(record["number"] == 41 for record in records), status)
    sender, buffer = make_sender(handler, 100)
    flushed = sender.flush()
    assert (flushed.accepted, flushed.dropped, flushed.waiting) == (99, 1, 0)
    assert buffer.dropped == {why: 1}


def test_a_record_that_alone_exceeds_the_wire_limit_is_dropped_without_asking() -> None:
    server = FakeServer()
    sender, buffer = make_sender(server, 1, filling=incompressible(1_200_000))
    flushed = sender.flush()
    assert (server.calls, flushed.dropped, flushed.waiting) == ([], 1, 0)
    assert buffer.dropped == {"too_big": 1}


def test_a_server_that_refuses_everything_is_not_asked_for_ever_in_one_flush() -> None:
    calls: list[int] = []

    def refuse(request: httpx.Request) -> httpx.Response:
        calls.append(1)
        return problem(413, "too-large")

    make_sender(refuse, 4_000)[0].flush()
    assert len(calls) <= MOST_REQUESTS


def test_what_was_given_up_is_told_by_the_client() -> None:
    server = FakeServer(fault=lambda request: problem(413, "too-large"))
    client = make_client(server)
    client.use("segmentation", FakeRunner(), 1)
    client.flush()
    assert client.dropped == {"too_big": 1}


def test_two_threads_do_not_send_the_same_batch() -> None:
    inner: list[int] = []

    def flush_again(request: httpx.Request) -> httpx.Response:
        inner.append(sender.flush().accepted)
        return accept_all(request)

    sender, _ = make_sender(flush_again, 3)
    assert (sender.flush().accepted, inner) == (3, [0])
