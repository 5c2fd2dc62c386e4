"""A server that fails (R-G2): nothing wipes a good document, and nobody hammers it."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from sdk_builders import (
    CPU,
    DAY_S,
    GPU,
    NPU,
    FakeServer,
    ManualClock,
    always,
    make_client,
    make_document,
    network_down,
    problem,
    too_slow,
)

from nnfleet_client import Reason
from nnfleet_client.transport import MOST_ANSWER_BYTES


def test_a_server_that_never_learns_the_report_is_not_sent_it_in_a_loop() -> None:
    server = FakeServer(fault=lambda request: httpx.Response(201) if request.method == "PUT" else None)
    refreshed = make_client(server).refresh()
    assert server.calls == ["GET", "PUT", "GET"]
    assert (refreshed.reason, refreshed.error_code) == (Reason.DEFAULT, "unknown-report")


def test_a_refused_upload_is_reported_by_the_servers_code() -> None:
    def refuse(request: httpx.Request) -> httpx.Response | None:
        return problem(422, "digest-mismatch") if request.method == "PUT" else None

    assert make_client(FakeServer(fault=refuse)).refresh().error_code == "digest-mismatch"


def test_a_portal_that_takes_the_report_has_not_got_it() -> None:
    def portal(request: httpx.Request) -> httpx.Response | None:
        return httpx.Response(200, html="<p>Sign in</p>") if request.method == "PUT" else None

    server = FakeServer(fault=portal)
    assert make_client(server).refresh().error_code == "unreadable-document"
    assert server.calls == ["GET", "PUT"]


def test_a_missing_page_that_is_not_our_unknown_report_uploads_nothing() -> None:
    server = FakeServer(fault=always(lambda: httpx.Response(404, text="unknown-report")))
    refreshed = make_client(server).refresh()
    assert (server.calls, refreshed.error_code) == (["GET"], "http-404")


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (always(lambda: problem(401, "unauthorised")), "unauthorised"),
        (always(lambda: httpx.Response(401)), "http-401"),
        (always(lambda: httpx.Response(403)), "http-403"),
        (always(lambda: httpx.Response(404)), "http-404"),
        (always(lambda: httpx.Response(302, headers={"Location": "http://portal.test"})), "http-302"),
        (always(lambda: httpx.Response(500, text="<html>")), "http-500"),
        (always(lambda: httpx.Response(503)), "http-503"),
        (always(lambda: httpx.Response(200)), "unreadable-document"),
        (always(lambda: httpx.Response(200, text="<html>Sign in</html>")), "unreadable-document"),
        (always(lambda: httpx.Response(200, content=b"x" * (MOST_ANSWER_BYTES + 1))), "answer-too-big"),
        (always(lambda: httpx.Response(200, json=make_document(schema=9))), "unknown-schema"),
        (always(lambda: httpx.Response(200, json=make_document(app="mail"))), "other-app"),
        (always(lambda: httpx.Response(200, json=make_document(release=40))), "lower-release"),
        (
            always(lambda: httpx.Response(200, json=make_document(release=42, expires_at="2026-01-01T00:00:00Z"))),
            "expired-document",
        ),
        (network_down, "network"),
        (too_slow, "timeout"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_no_failure_ever_wipes_a_good_document(fault: Any, code: str) -> None:
    server, clock = FakeServer(), ManualClock()
    client = make_client(server, clock)
    client.refresh()
    server.fault = fault
    clock.pass_s(100)
    refreshed = client.refresh()
    assert (refreshed.reason, refreshed.error_code) == (Reason.STALE, code)
    plan = client.decision("segmentation")
    assert (plan.reason, plan.error_code, plan.release) == (Reason.STALE, code, 41)
    assert [rung.arm_id for rung in plan.ladder] == [NPU, GPU, CPU]


def test_an_answer_after_a_failure_clears_the_code() -> None:
    server, clock = FakeServer(fault=network_down), ManualClock()
    client = make_client(server, clock)
    client.refresh()
    server.fault = lambda request: None
    clock.pass_s(100)
    client.refresh()
    assert client.decision("segmentation").error_code is None


def test_past_its_expiry_the_last_good_document_gives_way_to_the_default() -> None:
    server, clock = FakeServer(), ManualClock()
    client = make_client(server, clock)
    client.refresh()
    server.fault = network_down
    clock.pass_s(40 * DAY_S)
    client.refresh()
    plan = client.decision("segmentation")
    assert (plan.reason, plan.error_code) == (Reason.DEFAULT, "network")


def test_a_304_to_an_empty_store_is_a_failure() -> None:
    refreshed = make_client(FakeServer(fault=always(lambda: httpx.Response(304)))).refresh()
    assert (refreshed.reason, refreshed.error_code) == (Reason.DEFAULT, "nothing-to-confirm")


def test_an_outage_of_ten_minutes_with_forty_reads_a_minute_is_not_hammered() -> None:
    server, clock = FakeServer(fault=always(lambda: httpx.Response(503))), ManualClock()
    client = make_client(server, clock)
    for _ in range(400):
        client.refresh(force=True)
        client.decision("segmentation")
        clock.pass_s(1.5)
    assert 2 <= len(server.calls) <= 20


def test_after_one_failure_the_pause_is_at_least_thirty_seconds() -> None:
    for seed in range(50):
        waiting = make_client(FakeServer(fault=network_down), seed=seed).refresh()
        assert 30 <= waiting.wait_s <= 45


def test_a_failed_attempt_does_not_pass_for_a_success() -> None:
    server, clock = FakeServer(), ManualClock()
    client = make_client(server, clock)
    client.refresh()
    server.fault = network_down
    clock.pass_s(100)
    for _ in range(5):
        refreshed = client.refresh()
        assert (refreshed.reason, refreshed.error_code) == (Reason.STALE, "network")
        clock.pass_s(refreshed.wait_s)
    server.fault = lambda request: None
    assert client.refresh().reason is Reason.NOT_MODIFIED


def test_a_retry_after_is_never_undercut() -> None:
    server, clock = FakeServer(), ManualClock()
    server.fault = always(lambda: httpx.Response(429, headers={"Retry-After": "600"}))
    client = make_client(server, clock)
    assert client.refresh().wait_s >= 600
    clock.pass_s(599)
    assert client.refresh(force=True).asked is False


def test_while_cooling_down_the_last_failure_is_still_told() -> None:
    client = make_client(FakeServer(fault=network_down))
    client.refresh()
    waiting = client.refresh()
    assert (waiting.asked, waiting.error_code) == (False, "network")


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"code": 5}', json.dumps({"detail": "x"}).encode()])
def test_a_problem_that_cannot_be_read_is_known_by_its_status(body: bytes) -> None:
    headers = {"Content-Type": "application/problem+json"}
    server = FakeServer(fault=always(lambda: httpx.Response(500, content=body, headers=headers)))
    assert make_client(server).refresh().error_code == "http-500"
