"""Background refresh: one loop for many clients, with time and sleeping passed in."""

from __future__ import annotations

import httpx
from sdk_builders import FakeRunner, FakeServer, ManualClock, make_client, make_document

from nnfleet_client import FleetClient, Poller
from nnfleet_client.poller import LEAST_PAUSE_S


def poll(clients: list[FleetClient], clock: ManualClock, rounds: int, least_pause_s: float = 1.0) -> list[float]:
    """Run that many rounds; the pauses between them."""
    pauses_s: list[float] = []

    def wait(seconds: float) -> bool:
        pauses_s.append(seconds)
        clock.pass_s(seconds)
        return len(pauses_s) >= rounds

    Poller(clients, clock, wait, least_pause_s).run()
    return pauses_s


def test_a_healthy_server_is_asked_once_per_max_age() -> None:
    server, clock = FakeServer(), ManualClock()
    pauses_s = poll([make_client(server, clock)], clock, 10)
    assert server.calls.count("GET") == 11  # one more for the upload
    assert all(60 <= pause_s <= 66 for pause_s in pauses_s)


def test_between_rounds_the_radio_sleeps_and_each_waking_serves_both() -> None:
    server, clock = FakeServer(make_document(telemetry={"sample": 1.0, "flush_s": 2_000})), ManualClock()
    client = make_client(server, clock)
    client.refresh()
    client.use("segmentation", FakeRunner(), 1)
    pauses_s = poll([client], clock, 4, LEAST_PAUSE_S)
    assert pauses_s == [900.0] * 4
    assert server.calls[-3:] == [
        "GET",
        "POST",
        "GET",
    ]  # sent at 1,800 s: at 2,000 s the radio would have been woken for it


def test_a_failing_server_is_asked_ever_more_rarely() -> None:
    server, clock = FakeServer(fault=lambda request: httpx.Response(503)), ManualClock()
    pauses_s = poll([make_client(server, clock)], clock, 6)
    assert sum(pauses_s) >= 30 * (2**6 - 1)
    assert len(server.calls) <= 7


def test_observations_are_flushed_as_often_as_the_document_asks() -> None:
    document = make_document(telemetry={"sample": 1.0, "flush_s": 100})
    server, clock = FakeServer(document=document), ManualClock()
    client = make_client(server, clock)
    client.refresh()
    client.use("segmentation", FakeRunner(), 1)
    poll([client], clock, 3)
    assert len(server.records) == 1


def test_one_loop_serves_many_clients_and_none_is_a_short_nap() -> None:
    servers, clock = [FakeServer(), FakeServer()], ManualClock()
    poll([make_client(server, clock) for server in servers], clock, 2)
    assert all(server.calls for server in servers)
    assert poll([], clock, 1) == [1.0]
