"""Fetching decisions (R-G2): one upload, conditional requests, and a last good document that nothing wipes."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import httpx
import pytest
from sdk_builders import (
    CPU,
    DEFAULT,
    GPU,
    NPU,
    REPORT,
    FakeServer,
    ManualClock,
    make_client,
    make_document,
    make_model,
    make_transport,
    problem,
    split,
)

from nnfleet_client import AssignedBy, InvalidDefaultError, InvalidUnitIdError, Reason, UnknownModelError, report_id
from nnfleet_client.transport import MOST_ANSWER_BYTES

DAY_S = 86_400


def always(response: Callable[[], httpx.Response]) -> Callable[[httpx.Request], httpx.Response | None]:
    return lambda request: response()


def network_down(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("no route", request=request)


def too_slow(request: httpx.Request) -> httpx.Response:
    raise httpx.ReadTimeout("too slow", request=request)


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


def test_a_server_that_never_learns_the_report_is_not_sent_it_in_a_loop() -> None:
    server = FakeServer(fault=lambda request: httpx.Response(201) if request.method == "PUT" else None)
    refreshed = make_client(server).refresh()
    assert server.calls == ["GET", "PUT", "GET"]
    assert (refreshed.reason, refreshed.error_code) == (Reason.DEFAULT, "unknown-report")


def test_a_refused_upload_is_reported_by_the_servers_code() -> None:
    def refuse(request: httpx.Request) -> httpx.Response | None:
        return problem(422, "digest-mismatch") if request.method == "PUT" else None

    assert make_client(FakeServer(fault=refuse)).refresh().error_code == "digest-mismatch"


def test_a_missing_page_that_is_not_our_unknown_report_uploads_nothing() -> None:
    server = FakeServer(fault=always(lambda: httpx.Response(404, text="unknown-report")))
    refreshed = make_client(server).refresh()
    assert (server.calls, refreshed.error_code) == (["GET"], "http-404")


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


def test_deciding_never_touches_the_network() -> None:
    server = FakeServer()
    client = make_client(server)
    client.decision("segmentation")
    assert server.calls == []


def test_before_the_first_answer_the_bundled_default_serves() -> None:
    plan = make_client().decision("segmentation")
    assert [rung.arm_id for rung in plan.ladder] == [CPU]
    assert (plan.reason, plan.error_code, plan.release) == (Reason.DEFAULT, "no-document", 0)
    assert (plan.propensity, plan.assigned_by) == (1.0, AssignedBy.DEFAULT)


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


def test_the_same_release_and_a_higher_one_are_taken_up() -> None:
    server = FakeServer()
    client = make_client(server)
    client.refresh()
    for release in (41, 42):
        server.document = make_document(make_model([split(10_000, GPU, CPU)]), release=release)
        server.fault = lambda request: httpx.Response(200, json=server.document)
        assert client.refresh(force=True).error_code is None
        assert client.decision("segmentation").ladder[0].arm_id == GPU


def test_past_its_expiry_the_last_good_document_gives_way_to_the_default() -> None:
    server, clock = FakeServer(), ManualClock()
    client = make_client(server, clock)
    client.refresh()
    server.fault = network_down
    clock.pass_s(40 * DAY_S)
    client.refresh()
    plan = client.decision("segmentation")
    assert (plan.reason, plan.error_code) == (Reason.DEFAULT, "network")


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


def test_a_304_to_an_empty_store_is_a_failure() -> None:
    refreshed = make_client(FakeServer(fault=always(lambda: httpx.Response(304)))).refresh()
    assert (refreshed.reason, refreshed.error_code) == (Reason.DEFAULT, "nothing-to-confirm")


def test_a_wall_clock_that_goes_back_makes_the_client_ask_and_not_trust() -> None:
    server, clock = FakeServer(), ManualClock()
    client = make_client(server, clock)
    client.refresh()
    clock.wall_s -= 1_000
    assert client.decision("segmentation").reason is Reason.STALE
    assert client.refresh().asked is True


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


def test_a_second_thread_does_not_ask_while_the_first_one_does() -> None:
    inner: list[bool] = []

    def ask_again(request: httpx.Request) -> None:
        inner.append(client.refresh(force=True).asked)

    client = make_client(FakeServer(fault=ask_again))
    assert client.refresh().asked is True
    assert inner == [False, False, False]


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


def test_a_model_that_the_document_leaves_out_is_served_by_the_default() -> None:
    server = FakeServer(document=make_document(models={}))
    client = make_client(server)
    client.refresh()
    plan = client.decision("segmentation")
    assert (plan.reason, plan.error_code) == (Reason.DEFAULT, "unknown-model")


def test_a_model_that_nobody_knows_is_the_apps_mistake() -> None:
    with pytest.raises(UnknownModelError):
        make_client().decision("translation")


def test_a_moment_that_no_situation_covers_is_served_by_the_default() -> None:
    model = make_model(situations=[{"when": {"workload": "burst"}, "plan": "main"}])
    client = make_client(FakeServer(document=make_document(model)))
    client.refresh()
    assert client.decision("segmentation").error_code == "no-situation"
    assert client.decision("segmentation", workload="burst").error_code is None


def test_the_plan_of_the_moment_is_chosen_by_workload_and_heat() -> None:
    plans = {
        name: make_model([split(10_000, first, CPU)])["plans"]["main"] for name, first in (("main", NPU), ("cool", GPU))
    }
    hot = {"workload": "sustained", "thermal_at_least": "moderate"}
    model = make_model(plans=plans, situations=[{"when": hot, "plan": "cool"}, {"when": {}, "plan": "main"}])
    client = make_client(FakeServer(document=make_document(model)))
    client.refresh()
    assert client.decision("segmentation", workload="sustained", thermal="severe").name == "cool"
    assert client.decision("segmentation", workload="burst", thermal=3).name == "main"


def test_a_split_is_served_with_its_bucket_and_its_chance() -> None:
    model = make_model([split(9_800, NPU, CPU), split(200, GPU, CPU, explore=True)])
    client = make_client(FakeServer(document=make_document(model)))
    client.refresh()
    plan = client.decision("segmentation")
    assert (plan.bucket, plan.split_index, plan.propensity) == (565, 0, 0.98)
    assert (plan.assigned_by, plan.explore) == (AssignedBy.BUCKET, False)


def test_without_a_unit_id_the_answer_says_so_and_is_certain() -> None:
    model = make_model([split(200, GPU, CPU, explore=True), split(9_800, NPU, CPU)])
    client = make_client(FakeServer(document=make_document(model)), unit_id=None)
    client.refresh()
    plan = client.decision("segmentation")
    assert (plan.assigned_by, plan.ladder[0].arm_id, plan.propensity) == (AssignedBy.NO_UNIT, NPU, 1.0)


def test_a_hash_of_the_future_assigns_nobody_where_a_draw_is_needed() -> None:
    future = {"salt": "seg-7", "hash": "murmur3-32/2"}
    model = make_model(plans={"main": {**future, "splits": [split(5_000, NPU, CPU), split(5_000, CPU)]}})
    client = make_client(FakeServer(document=make_document(model)))
    client.refresh()
    assert client.decision("segmentation").error_code == "unknown-hash"


def test_a_hash_of_the_future_does_not_matter_to_a_whole_share() -> None:
    model = make_model(plans={"main": {"salt": "s", "hash": "murmur3-32/2", "splits": [split(10_000, NPU, CPU)]}})
    client = make_client(FakeServer(document=make_document(model)))
    client.refresh()
    assert client.decision("segmentation").reason is Reason.FRESH


def test_the_unit_id_never_leaves_the_device() -> None:
    server = FakeServer()
    client = make_client(server, unit_id="secret-unit")
    client.refresh()
    assert all(
        b"secret-unit" not in request.content + str((request.url, request.headers.raw)).encode()
        for request in server.requests
    )


def test_advice_and_flush_interval_come_from_the_document() -> None:
    document = make_document(advice=[{"code": "driver-off"}], telemetry={"sample": 1.0, "flush_s": 120})
    client = make_client(FakeServer(document=document))
    assert (list(client.advice), client.flush_s) == ([], 3_600)
    client.refresh()
    assert (list(client.advice), client.flush_s) == ([{"code": "driver-off"}], 120)


def test_what_another_probe_should_find_out_comes_from_the_document() -> None:
    client = make_client(FakeServer(document=make_document(probe=["runtimes.neuron"])))
    assert list(client.probe) == []
    client.refresh()
    assert list(client.probe) == ["runtimes.neuron"]


@pytest.mark.parametrize("default", [{}, {"segmentation": {}}])
def test_a_client_without_a_default_for_its_models_is_refused(default: dict[str, Any]) -> None:
    with pytest.raises(InvalidDefaultError):
        make_client(default=default)


def test_a_unit_id_with_control_characters_is_refused_at_the_border() -> None:
    with pytest.raises(InvalidUnitIdError):
        make_client(unit_id="unit\n1")


def test_changing_the_apps_own_default_afterwards_changes_nothing() -> None:
    mine = {"segmentation": {CPU: dict(DEFAULT["segmentation"][CPU])}}
    client = make_client(default=mine)
    mine["segmentation"].clear()
    assert client.decision("segmentation").ladder[0].arm_id == CPU


def test_every_exchange_is_told_to_the_hook_by_route_and_never_by_id() -> None:
    seen: list[tuple[str, str, int | None, float]] = []
    ticks = iter(range(100))
    server = FakeServer()
    transport = make_transport(server, on_http=lambda *call: seen.append(call), timer_s=lambda: next(ticks) / 1000)
    client = make_client(server=transport)
    client.refresh()
    server.fault = network_down
    client.refresh(force=True)
    assert seen == [
        ("GET", "/v1/decisions/{app}/{report_id}", 404, 1.0),
        ("PUT", "/v1/reports/{report_id}", 201, 1.0),
        ("GET", "/v1/decisions/{app}/{report_id}", 200, 1.0),
        ("GET", "/v1/decisions/{app}/{report_id}", None, pytest.approx(1.0)),
    ]


def test_headers_of_the_transport_go_with_every_request() -> None:
    server = FakeServer()
    make_client(server=make_transport(server, headers={"Authorization": "Bearer k"})).refresh()
    assert {request.headers["authorization"] for request in server.requests} == {"Bearer k"}


def test_an_app_name_cannot_climb_out_of_its_place_in_the_path() -> None:
    server = FakeServer()
    make_client(server, app="../admin").refresh()
    assert server.requests[0].url.raw_path.startswith(b"/v1/decisions/..%2Fadmin/")


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"code": 5}', json.dumps({"detail": "x"}).encode()])
def test_a_problem_that_cannot_be_read_is_known_by_its_status(body: bytes) -> None:
    headers = {"Content-Type": "application/problem+json"}
    server = FakeServer(fault=always(lambda: httpx.Response(500, content=body, headers=headers)))
    assert make_client(server).refresh().error_code == "http-500"
