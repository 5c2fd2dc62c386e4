"""Fetching decisions (R-G2): one upload, conditional requests, newer releases, and what a request tells."""

from __future__ import annotations

from hashlib import sha256

import httpx
from sdk_builders import (
    CPU,
    DAY_S,
    GPU,
    REPORT,
    FakeServer,
    ManualClock,
    make_client,
    make_document,
    make_model,
    make_transport,
    network_down,
    split,
)

from nnfleet_client import Reason, report_id


def test_the_report_id_is_the_digest_of_the_exact_bytes() -> None:
    assert report_id(REPORT) == sha256(REPORT).hexdigest()
    assert report_id(REPORT) != report_id(REPORT + b"\n")


def test_an_unknown_report_is_uploaded_once_and_the_question_asked_again() -> None:
    server = FakeServer()
    client = make_client(server)
    refreshed = client.refresh()
    assert server.calls == ["GET", "PUT", "GET"]
    assert (refreshed.asked, refreshed.reason, refreshed.error_code) == (True, Reason.FRESH, None)
    assert server.requests[1].content == REPORT
    assert server.requests[1].url.path == f"/v1/reports/{client.report_id}"


def test_the_second_question_carries_the_etag_and_a_304_makes_the_document_fresh_again() -> None:
    server, clock = FakeServer(), ManualClock()
    client = make_client(server, clock)
    client.refresh()
    clock.pass_s(100)
    assert client.decision("segmentation").reason is Reason.STALE
    client.refresh()
    assert server.requests[-1].headers["if-none-match"] == '"41"'
    plan = client.decision("segmentation")
    assert (plan.reason, plan.release, plan.error_code) == (Reason.NOT_MODIFIED, 41, None)


def test_a_new_release_is_asked_for_with_the_newest_etag_from_then_on() -> None:
    server, clock = FakeServer(), ManualClock()
    client = make_client(server, clock)
    client.refresh()
    server.document = make_document(release=42)
    for _ in range(2):
        clock.pass_s(100)
        client.refresh()
    assert [request.headers.get("if-none-match") for request in server.requests[-2:]] == ['"41"', '"42"']


def test_a_fresh_document_is_not_asked_about_again() -> None:
    server, clock = FakeServer(), ManualClock()
    client = make_client(server, clock)
    client.refresh()
    calls = len(server.calls)
    clock.pass_s(59)
    assert client.refresh().asked is False
    assert len(server.calls) == calls


def test_forcing_asks_though_the_document_is_fresh() -> None:
    client = make_client(FakeServer())
    client.refresh()
    assert client.refresh(force=True).reason is Reason.NOT_MODIFIED


def test_phones_that_fetched_together_return_spread_over_a_tenth_of_max_age() -> None:
    clock = ManualClock()
    server = FakeServer(headers={"Cache-Control": "max-age=600"})
    waits_s = {make_client(server, clock, seed=seed).refresh().wait_s for seed in range(50)}
    assert len(waits_s) == 50
    assert min(waits_s) >= 600
    assert max(waits_s) <= 660


def test_the_same_release_and_a_higher_one_are_taken_up() -> None:
    server = FakeServer()
    client = make_client(server)
    client.refresh()
    for release in (41, 42):
        server.document = make_document(make_model([split(10_000, GPU, CPU)]), release=release)
        server.fault = lambda request: httpx.Response(200, json=server.document)
        assert client.refresh(force=True).error_code is None
        assert client.decision("segmentation").ladder[0].arm_id == GPU


def test_an_expired_document_is_asked_for_anew_and_not_for_a_304() -> None:
    server, clock = FakeServer(), ManualClock()
    client = make_client(server, clock)
    client.refresh()
    clock.pass_s(40 * DAY_S)
    assert client.decision("segmentation").error_code == "expired-document"
    server.document = make_document(release=42, expires_at="2027-01-01T00:00:00Z")
    assert client.refresh().reason is Reason.FRESH
    assert "if-none-match" not in server.requests[-1].headers


def test_an_old_release_stays_refused_after_the_newer_one_has_expired() -> None:
    server, clock = FakeServer(), ManualClock()
    client = make_client(server, clock)
    client.refresh()
    clock.pass_s(40 * DAY_S)
    server.document = make_document(release=40, expires_at="2027-01-01T00:00:00Z")
    refreshed = client.refresh()
    assert (refreshed.reason, refreshed.error_code) == (Reason.DEFAULT, "lower-release")


def test_a_wall_clock_that_goes_back_makes_the_client_ask_and_not_trust() -> None:
    server, clock = FakeServer(), ManualClock()
    client = make_client(server, clock)
    client.refresh()
    clock.wall_s -= 1_000
    assert client.decision("segmentation").reason is Reason.STALE
    assert client.refresh().asked is True


def test_a_second_thread_does_not_ask_while_the_first_one_does() -> None:
    inner: list[bool] = []

    def ask_again(request: httpx.Request) -> None:
        inner.append(client.refresh(force=True).asked)

    client = make_client(FakeServer(fault=ask_again))
    assert client.refresh().asked is True
    assert inner == [False, False, False]


def test_the_unit_id_never_leaves_the_device() -> None:
    server = FakeServer()
    client = make_client(server, unit_id="secret-unit")
    client.refresh()
    assert all(
        b"secret-unit" not in request.content + str((request.url, request.headers.raw)).encode()
        for request in server.requests
    )


def test_every_exchange_is_told_to_the_hook_by_route_and_never_by_id() -> None:
    seen: list[tuple[str, str, int | None, float]] = []
    ticks = iter(range(100))
    server = FakeServer()
    transport = make_transport(server, on_http=lambda *call: seen.append(call), timer_s=lambda: next(ticks) / 1000)
    client = make_client(server=transport)
    client.refresh()
    server.fault = network_down
    client.refresh(force=True)
    assert [call[:3] for call in seen] == [
        ("GET", "/v1/decisions/{app}/{report_id}", 404),
        ("PUT", "/v1/reports/{report_id}", 201),
        ("GET", "/v1/decisions/{app}/{report_id}", 200),
        ("GET", "/v1/decisions/{app}/{report_id}", None),
    ]
    assert all(elapsed_ms >= 1.0 for *_, elapsed_ms in seen)


def test_headers_of_the_transport_go_with_every_request() -> None:
    server = FakeServer()
    make_client(server=make_transport(server, headers={"Authorization": "Bearer k"})).refresh()
    assert {request.headers["authorization"] for request in server.requests} == {"Bearer k"}


def test_an_app_name_cannot_climb_out_of_its_place_in_the_path() -> None:
    server = FakeServer()
    make_client(server, app="../admin").refresh()
    assert server.requests[0].url.raw_path.startswith(b"/v1/decisions/..%2Fadmin/")
