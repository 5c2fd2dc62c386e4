"""A run that kills the process still counts (R-D5): the mark is written before, sent next time, and learned from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sdk_builders import (
    CPU,
    GPU,
    NPU,
    FakeRunner,
    FakeServer,
    FakeSession,
    ManualClock,
    make_client,
    make_document,
    make_model,
    split,
)

from nnfleet_client import FleetClient, ProcessDied, Settings

DAY_S = 86_400


def ready(folder: Path | None, clock: ManualClock, server: FakeServer, **changes: Any) -> FleetClient:
    client = make_client(server, clock, settings=Settings(folder=folder), **changes)
    client.refresh()
    return client


def void(result: object) -> None:
    """Throw a result away, so that a lambda may call for its effect."""


def crash(client: FleetClient, at_run: int | None = None) -> None:
    """Let its process die in the middle of a use: what it held of its folder, the system lets go."""
    trouble = ProcessDied() if at_run is None else FakeSession(trouble_at_run={at_run: ProcessDied()})
    with pytest.raises(ProcessDied):
        client.use("segmentation", FakeRunner({NPU: trouble}), 30, workload="burst")
    client.close()


def test_the_mark_is_on_disk_before_the_driver_is_touched(tmp_path: Path) -> None:
    seen: list[dict[str, Any]] = []

    def look(arm_id: str) -> None:
        seen.extend(json.loads(line) for line in (tmp_path / "observations.ndjson").read_text().splitlines())

    ready(tmp_path, ManualClock(), FakeServer()).use("segmentation", FakeRunner(on_start=look), 1)
    assert [(record["kind"], record["arm"]) for record in seen] == [("attempt", NPU)]


@pytest.mark.parametrize("at_run", [None, 1, 17])
def test_after_a_crash_the_mark_is_sent_next_time(tmp_path: Path, at_run: int | None) -> None:
    clock, server = ManualClock(), FakeServer()
    crash(ready(tmp_path, clock, server), at_run)
    ready(tmp_path, clock, server, seed=2).flush()
    (mark,) = server.records.values()
    assert (mark["kind"], mark["arm"], mark["workload"], mark["release"]) == ("attempt", NPU, "burst", 41)
    assert "runs" not in mark
    assert "attempt_id" not in mark


def test_after_a_crash_in_memory_the_mark_is_sent_by_the_next_flush() -> None:
    server = FakeServer()
    client = ready(None, ManualClock(), server)
    crash(client)
    client.flush()
    assert [record["kind"] for record in server.records.values()] == ["attempt"]


def test_after_a_crash_the_next_walk_starts_one_rung_lower(tmp_path: Path) -> None:
    clock, server, runner = ManualClock(), FakeServer(), FakeRunner()
    crash(ready(tmp_path, clock, server))
    outcome = ready(tmp_path, clock, server, seed=2).use("segmentation", runner, 1)
    assert (runner.started, outcome.arm_id) == ([GPU], GPU)


def test_after_a_crash_in_memory_the_next_walk_starts_one_rung_lower() -> None:
    client, runner = ready(None, ManualClock(), FakeServer()), FakeRunner()
    crash(client)
    client.use("segmentation", runner, 1)
    assert runner.started == [GPU]


def test_a_suspected_arm_gets_another_chance_after_a_day(tmp_path: Path) -> None:
    clock, server, runner = ManualClock(), FakeServer(), FakeRunner()
    crash(ready(tmp_path, clock, server))
    clock.pass_s(DAY_S)
    ready(tmp_path, clock, server, seed=2).use("segmentation", runner, 1)
    assert runner.started == [NPU]


def test_an_arm_that_crashes_again_is_left_alone_twice_as_long(tmp_path: Path) -> None:
    clock, server, runner = ManualClock(), FakeServer(), FakeRunner()
    crash(ready(tmp_path, clock, server))
    clock.pass_s(DAY_S)
    crash(ready(tmp_path, clock, server, seed=2))
    clock.pass_s(1.9 * DAY_S)
    third = ready(tmp_path, clock, server, seed=3)
    third.use("segmentation", runner, 1)
    third.close()
    clock.pass_s(0.1 * DAY_S)
    ready(tmp_path, clock, server, seed=4).use("segmentation", runner, 1)
    assert runner.started == [GPU, NPU]


def test_a_good_end_lifts_the_suspicion_for_good(tmp_path: Path) -> None:
    clock, server = ManualClock(), FakeServer()
    crash(ready(tmp_path, clock, server))
    clock.pass_s(DAY_S)
    client = ready(tmp_path, clock, server, seed=2)
    client.use("segmentation", FakeRunner(), 1)
    assert json.loads((tmp_path / "suspects.json").read_text()) == {}


def test_after_an_update_of_the_driver_nothing_is_held_against_an_arm(tmp_path: Path) -> None:
    clock, server, runner = ManualClock(), FakeServer(), FakeRunner()
    crash(ready(tmp_path, clock, server))
    ready(tmp_path, clock, server, seed=2, report=b'{"schema": 1, "updated": true}').use("segmentation", runner, 1)
    assert runner.started == [NPU]


@pytest.mark.parametrize("content", ["", "[]", "{", '{"a": 1}', '{"a": ["x", "y"]}', '{"a": [1]}'])
def test_a_damaged_list_of_suspects_suspects_nobody(tmp_path: Path, content: str) -> None:
    (tmp_path / "suspects.json").write_text(content)
    runner = FakeRunner()
    ready(tmp_path, ManualClock(), FakeServer()).use("segmentation", runner, 1)
    assert runner.started == [NPU]


def test_a_window_carries_the_id_of_its_mark_and_takes_its_place(tmp_path: Path) -> None:
    clock, server = ManualClock(), FakeServer()
    marks: list[str] = []

    def look(arm_id: str) -> None:
        last = (tmp_path / "observations.ndjson").read_text().splitlines()[-1]
        marks.append(json.loads(last)["record_id"])

    client = ready(tmp_path, clock, server)
    client.use("segmentation", FakeRunner(on_start=look), 1)
    client.close()
    again = ready(tmp_path, clock, server, seed=2)
    assert again.waiting == 1
    again.flush()
    (window,) = server.records.values()
    assert (window["kind"], [window["attempt_id"]]) == ("window", marks)


def test_a_start_that_is_still_going_on_is_not_sent_as_a_crash() -> None:
    server = FakeServer()
    client = ready(None, ManualClock(), server)
    client.use("segmentation", FakeRunner(on_start=lambda arm_id: void(client.flush())), 1)
    assert server.records == {}


def test_two_uses_at_once_do_not_suspect_each_other(tmp_path: Path) -> None:
    client, inner = ready(tmp_path, ManualClock(), FakeServer()), FakeRunner()
    client.use("segmentation", FakeRunner(on_start=lambda arm_id: void(client.use("segmentation", inner, 1))), 1)
    assert inner.started == [NPU]
    assert json.loads((tmp_path / "suspects.json").read_text()) == {}


def test_a_use_that_ends_does_not_clear_one_that_crashes_beside_it(tmp_path: Path) -> None:
    clock, server = ManualClock(), FakeServer()
    client = ready(tmp_path, clock, server)

    def use_beside_and_die(arm_id: str) -> None:
        client.use("segmentation", FakeRunner(), 1)
        raise ProcessDied

    with pytest.raises(ProcessDied):
        client.use("segmentation", FakeRunner(on_start=use_beside_and_die), 1)
    client.close()
    runner = FakeRunner()
    ready(tmp_path, clock, server, seed=2).use("segmentation", runner, 1)
    assert runner.started == [GPU]


def test_a_mistake_in_the_apps_own_runner_is_not_hidden(tmp_path: Path) -> None:
    client = ready(tmp_path, ManualClock(), FakeServer())
    with pytest.raises(ZeroDivisionError):
        client.use("segmentation", FakeRunner({NPU: ZeroDivisionError()}), 1)
    assert client.waiting == 1


def test_a_crash_on_the_last_rung_does_not_bar_it() -> None:
    client = make_client()
    with pytest.raises(ProcessDied):
        client.use("segmentation", FakeRunner({CPU: ProcessDied()}), 1)
    assert client.use("segmentation", FakeRunner(), 1).arm_id == CPU


def test_an_unsampled_use_reports_neither_mark_nor_window_but_is_still_suspicious(tmp_path: Path) -> None:
    clock = ManualClock()
    server = FakeServer(document=make_document(telemetry={"sample": 0.0}))
    client = ready(tmp_path, clock, server)
    crash(client)
    runner = FakeRunner()
    client.use("segmentation", runner, 1)
    assert (client.waiting, runner.started) == (0, [GPU])


def test_the_share_of_reported_uses_is_the_one_asked_for() -> None:
    server = FakeServer(document=make_document(telemetry={"sample": 0.25}))
    client = ready(None, ManualClock(), server)
    for _ in range(1_000):
        client.use("segmentation", FakeRunner(), 1)
    assert abs(client.waiting - 250) < 55


def test_a_use_that_is_called_off_from_outside_is_no_crash_and_no_fault_of_the_arm(tmp_path: Path) -> None:
    clock, server = ManualClock(), FakeServer()
    client = ready(tmp_path, clock, server)
    with pytest.raises(KeyboardInterrupt):
        client.use("segmentation", FakeRunner({NPU: FakeSession(trouble_at_run={2: KeyboardInterrupt()})}), 30)
    assert client.waiting == 0
    client.close()
    again, runner = ready(tmp_path, clock, server, seed=2), FakeRunner()
    again.use("segmentation", runner, 1)
    assert (again.waiting, runner.started) == (1, [NPU])


def test_arms_of_documents_long_gone_do_not_stay_in_the_file_for_ever(tmp_path: Path) -> None:
    clock, server = ManualClock(), FakeServer()
    server.document = make_document(expires_at="2099-01-01T00:00:00Z")
    crash(ready(tmp_path, clock, server))
    server.document = make_document(
        make_model([split(10_000, GPU, CPU)]), release=42, expires_at="2099-01-01T00:00:00Z"
    )
    clock.pass_s(40 * DAY_S)
    later = ready(tmp_path, clock, server, seed=2)
    later.use("segmentation", FakeRunner(), 1)
    assert json.loads((tmp_path / "suspects.json").read_text()) == {}
