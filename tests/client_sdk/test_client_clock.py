"""The one clock of this machine that the client brings along."""

from __future__ import annotations

from datetime import UTC, datetime

from sdk_builders import DEFAULT, REPORT, FakeServer, make_transport

from nnfleet_client import FleetClient, Reason, SystemClock

A_MICROSECOND_S = 1e-6
"""`datetime` cuts off what is less."""


def test_the_wall_clock_counts_seconds_since_1970_and_the_steady_one_never_goes_back() -> None:
    clock = SystemClock()
    before = datetime.now(UTC).timestamp()
    assert before <= clock.now_s() < datetime.now(UTC).timestamp() + A_MICROSECOND_S
    assert clock.monotonic_s() <= clock.monotonic_s()


def test_a_client_built_with_the_least_works_on_the_machines_own_clock_and_chance() -> None:
    client = FleetClient(app="camera", report=REPORT, default=DEFAULT, server=make_transport(FakeServer()))
    assert client.decision("segmentation").reason is Reason.DEFAULT
