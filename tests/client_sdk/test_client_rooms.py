"""Several clients of one folder (R-G2, R-D5): none loses another's observations, or takes its running starts for crashes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from sdk_builders import GPU, NPU, FakeRunner, FakeServer, ManualClock, make_client

from nnfleet_client import FleetClient, Settings
from nnfleet_client.room import MOST_ROOMS, Room

IN_THE_MIDDLE_OF_A_USE = """
import sys
from pathlib import Path
from sdk_builders import FakeRunner, FakeServer, make_client
from nnfleet_client import Settings

def wait(arm_id):
    print("started", flush=True)
    sys.stdin.readline()

client = make_client(FakeServer(), settings=Settings(folder=Path(sys.argv[1])))
client.refresh()
client.use("segmentation", FakeRunner(on_start=wait), 1)
print(client.waiting, flush=True)
"""


def client_of(folder: Path, server: FakeServer | None = None, seed: int = 1, **settings: Any) -> FleetClient:
    client = make_client(server or FakeServer(), ManualClock(), seed=seed, settings=Settings(folder=folder, **settings))
    client.refresh()
    return client


@pytest.fixture
def other(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process of the app, which waits in the middle of starting an arm."""
    command = [sys.executable, "-c", IN_THE_MIDDLE_OF_A_USE, str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent
    ) as process:
        assert pipe(process.stdout).readline() == "started\n"
        yield process
        process.kill()


def pipe(end: IO[str] | None) -> IO[str]:
    assert end is not None
    return end


def test_a_start_that_goes_on_in_another_process_is_neither_a_crash_nor_a_suspicion(
    tmp_path: Path, other: subprocess.Popen[str]
) -> None:
    server, runner = FakeServer(), FakeRunner()
    client = client_of(tmp_path, server)
    assert client.use("segmentation", runner, 1).arm_id == NPU
    client.flush()
    assert [record["kind"] for record in server.records.values()] == ["window"]
    told, _ = other.communicate("\n", timeout=60)
    assert told == "1\n"
    client.close()
    assert client_of(tmp_path, server).waiting == 1  # what the other one could not send


def test_what_a_killed_process_left_is_taken_up_by_the_next(tmp_path: Path, other: subprocess.Popen[str]) -> None:
    other.kill()
    other.wait()
    server, runner = FakeServer(), FakeRunner()
    client = client_of(tmp_path, server)
    client.flush()
    client.use("segmentation", runner, 1)
    assert [record["kind"] for record in server.records.values()] == ["attempt"]
    assert runner.started == [GPU]


def test_a_process_that_its_user_ended_has_not_crashed(tmp_path: Path, other: subprocess.Popen[str]) -> None:
    other.kill()
    other.wait()
    runner = FakeRunner()
    client = client_of(tmp_path, ended_from_outside=True)
    assert client.waiting == 0
    client.use("segmentation", runner, 1)
    assert runner.started == [NPU]
    client.close()
    assert client_of(tmp_path).waiting == 1  # the window: the mark is gone from the disk too


def test_a_crash_stays_a_crash_however_the_process_after_it_ends(tmp_path: Path, other: subprocess.Popen[str]) -> None:
    other.kill()
    other.wait()
    client_of(tmp_path).close()
    runner = FakeRunner()
    again = client_of(tmp_path, seed=2, ended_from_outside=True)
    again.use("segmentation", runner, 1)
    assert (again.waiting, runner.started) == (2, [GPU])


def test_two_clients_in_one_process_keep_apart(tmp_path: Path) -> None:
    first, second = client_of(tmp_path), client_of(tmp_path, seed=2)
    for client in (first, second, first):
        client.use("segmentation", FakeRunner(), 1)
    assert (first.waiting, second.waiting) == (2, 1)
    first.close()
    assert client_of(tmp_path, seed=3).waiting == 2


def test_a_client_that_nobody_holds_any_more_leaves_its_room(tmp_path: Path) -> None:
    client_of(tmp_path)
    assert Room(tmp_path).folder == tmp_path


def test_where_all_rooms_are_taken_nothing_is_kept_on_disk(tmp_path: Path) -> None:
    rooms = [Room(tmp_path) for _ in range(MOST_ROOMS)]
    assert len({room.folder for room in rooms}) == MOST_ROOMS
    late = client_of(tmp_path)
    assert late.use("segmentation", FakeRunner(), 1).arm_id == NPU
    rooms[3].close()
    assert Room(tmp_path).folder == tmp_path / "room-4"


def test_closing_twice_does_not_close_what_another_one_opened(tmp_path: Path) -> None:
    room = Room(tmp_path)
    room.close()
    again = Room(tmp_path)
    room.close()
    assert Room(tmp_path).folder != again.folder
