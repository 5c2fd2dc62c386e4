"""What survives a restart, and what a damaged or refusing disk can do (nothing)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sdk_builders import CPU, NPU, FakeRunner, FakeServer, ManualClock, make_client, make_document

from nnfleet_client import FleetClient, ProcessDied, Reason, Settings
from nnfleet_client.files import MOST_FILE_BYTES
from nnfleet_client.store import CACHE_FILE

ANOTHER_REPORT = b'{"schema": 1, "device": {"model": "Pixel 10a", "build_fingerprint": "after the update"}}'


def restarted(folder: Path, clock: ManualClock, server: FakeServer | None = None, **changes: Any) -> FleetClient:
    return make_client(server or FakeServer(), clock, settings=Settings(folder=folder), **changes)


def fetched(folder: Path, clock: ManualClock) -> None:
    restarted(folder, clock).refresh()


def test_a_restarted_client_serves_its_last_good_document_without_asking(tmp_path: Path) -> None:
    clock = ManualClock()
    fetched(tmp_path, clock)
    plan = restarted(tmp_path, clock).decision("segmentation")
    assert (plan.reason, plan.release, plan.ladder[0].arm_id) == (Reason.FRESH, 41, NPU)


def test_a_restarted_client_asks_with_the_etag_it_had(tmp_path: Path) -> None:
    clock, server = ManualClock(), FakeServer()
    restarted(tmp_path, clock, server).refresh()
    clock.pass_s(100)
    assert restarted(tmp_path, clock, server).refresh().reason is Reason.NOT_MODIFIED


def test_a_restarted_client_still_refuses_a_lower_release(tmp_path: Path) -> None:
    clock = ManualClock()
    fetched(tmp_path, clock)
    older = FakeServer(document=make_document(release=40))
    assert restarted(tmp_path, clock, older).refresh(force=True).error_code == "lower-release"


def test_after_an_update_the_document_of_the_old_driver_is_not_taken_up(tmp_path: Path) -> None:
    clock = ManualClock()
    fetched(tmp_path, clock)
    updated = restarted(tmp_path, clock, report=ANOTHER_REPORT)
    assert updated.decision("segmentation").reason is Reason.DEFAULT


def test_after_an_update_a_lower_release_is_still_refused(tmp_path: Path) -> None:
    clock = ManualClock()
    fetched(tmp_path, clock)
    older = FakeServer(document=make_document(release=40))
    assert restarted(tmp_path, clock, older, report=ANOTHER_REPORT).refresh().error_code == "lower-release"


def test_another_app_takes_nothing_from_this_folder(tmp_path: Path) -> None:
    clock = ManualClock()
    fetched(tmp_path, clock)
    assert restarted(tmp_path, clock, app="mail").decision("segmentation").reason is Reason.DEFAULT


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b'{"body": 5}', b"\xff", b"[" * 100_000],
    ids=["empty", "torn", "list", "null", "other fields", "no text", "deep"],
)
def test_a_damaged_cache_is_an_empty_cache(tmp_path: Path, content: bytes) -> None:
    (tmp_path / CACHE_FILE).write_bytes(content)
    client = restarted(tmp_path, ManualClock())
    assert client.decision("segmentation").error_code == "no-document"
    assert client.refresh().reason is Reason.FRESH


@pytest.mark.parametrize("field", ["report_id", "etag", "fresh_for_s", "confirmed_at_s", "body"])
def test_a_cache_with_one_field_of_another_type_is_an_empty_cache(tmp_path: Path, field: str) -> None:
    clock = ManualClock()
    fetched(tmp_path, clock)
    path = tmp_path / CACHE_FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | {field: ["odd"]}))
    client = restarted(tmp_path, clock)
    assert client.decision("segmentation").error_code == "no-document"
    assert client.refresh(force=True).reason is Reason.FRESH


def test_no_half_written_file_is_left_behind(tmp_path: Path) -> None:
    client = restarted(tmp_path, ManualClock())
    client.refresh()
    client.use("segmentation", FakeRunner(), 1)
    client.flush()
    assert {path.name for path in tmp_path.iterdir()} == {
        "decision.json",
        "lock",
        "observations.ndjson",
        "suspects.json",
    }


def test_a_disk_that_refuses_is_lived_without(tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("in the way of a folder")
    client = restarted(tmp_path / "a file", ManualClock())
    assert client.refresh().reason is Reason.FRESH
    assert client.use("segmentation", FakeRunner(), 1).arm_id == NPU
    assert client.flush().accepted == 1


def test_the_unit_id_is_on_no_file(tmp_path: Path) -> None:
    client = restarted(tmp_path, ManualClock(), unit_id="secret-unit")
    client.refresh()
    client.use("segmentation", FakeRunner(), 1)
    assert all(b"secret-unit" not in path.read_bytes() for path in tmp_path.iterdir())


def test_unsent_observations_survive_a_restart_with_their_ids(tmp_path: Path) -> None:
    clock, server = ManualClock(), FakeServer()
    client = restarted(tmp_path, clock, server)
    client.use("segmentation", FakeRunner(), 3)
    client.close()
    again = restarted(tmp_path, clock, server, seed=2)
    assert again.flush().accepted == 1
    assert client.flush().duplicate == 1
    assert [record["arm"] for record in server.records.values()] == [CPU]


def test_sent_observations_are_gone_from_the_disk(tmp_path: Path) -> None:
    clock = ManualClock()
    client = restarted(tmp_path, clock)
    client.use("segmentation", FakeRunner(), 3)
    client.flush()
    assert restarted(tmp_path, clock).waiting == 0


@pytest.mark.parametrize("name", ["decision.json.new", "observations.ndjson", "suspects.json.new"])
def test_a_disk_that_is_full_is_lived_without(tmp_path: Path, name: str) -> None:
    client = restarted(tmp_path, ManualClock())
    (tmp_path / name).symlink_to("/dev/full")
    assert client.refresh().reason is Reason.FRESH
    assert client.use("segmentation", FakeRunner(), 1).arm_id == NPU
    assert client.flush().accepted == 1
    assert not (tmp_path / "decision.json.new").exists()


def torn(folder: Path, clock: ManualClock) -> FleetClient:
    """A client that finds a window, and half a line after it."""
    first = restarted(folder, clock)
    first.use("segmentation", FakeRunner(), 3)
    first.close()
    with (folder / "observations.ndjson").open("ab") as file:
        file.write(b'{"record_id": "0197')
    return restarted(folder, clock, seed=2)


def test_a_line_torn_by_a_crash_costs_only_itself(tmp_path: Path) -> None:
    clock = ManualClock()
    client = torn(tmp_path, clock)
    assert client.waiting == 1
    client.use("segmentation", FakeRunner(), 3)
    client.close()
    assert restarted(tmp_path, clock, seed=3).waiting == 2


def test_a_mark_that_is_written_after_half_a_line_is_not_lost_with_it(tmp_path: Path) -> None:
    clock, server = ManualClock(), FakeServer()
    client = torn(tmp_path, clock)
    with pytest.raises(ProcessDied):
        client.use("segmentation", FakeRunner({CPU: ProcessDied()}), 3)
    client.close()
    restarted(tmp_path, clock, server, seed=3).flush()
    assert [record["kind"] for record in server.records.values()] == ["window", "attempt"]


@pytest.mark.parametrize("name", ["decision.json", "observations.ndjson", "suspects.json"])
def test_a_file_that_has_grown_beyond_all_reason_is_thrown_away(tmp_path: Path, name: str) -> None:
    with (tmp_path / name).open("wb") as file:
        file.truncate(MOST_FILE_BYTES + 1)
    client = restarted(tmp_path, ManualClock())
    assert (client.waiting, client.decision("segmentation").error_code) == (0, "no-document")
    assert not (tmp_path / name).exists()


def test_a_cache_that_a_newer_sdk_wrote_more_into_is_taken_up(tmp_path: Path) -> None:
    clock = ManualClock()
    fetched(tmp_path, clock)
    path = tmp_path / CACHE_FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | {"written_by": "python/9.0.0"}))
    assert restarted(tmp_path, clock).decision("segmentation").release == 41


def test_a_cached_tag_that_no_request_can_carry_is_not_sent(tmp_path: Path) -> None:
    clock, server = ManualClock(), FakeServer()
    fetched(tmp_path, clock)
    path = tmp_path / CACHE_FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | {"etag": "a\nb\u00e9"}))
    clock.pass_s(100)
    assert restarted(tmp_path, clock, server).refresh().reason is Reason.FRESH
    assert all("if-none-match" not in request.headers for request in server.requests)
