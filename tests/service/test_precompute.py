"""Decisions that are ready before they are asked for: who asked once is decided for ahead, release after release."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from builders import make_report
from flask.testing import FlaskClient
from operating import Operator
from sqlalchemy import Engine

from policies.report import report_id
from service.deciding.local_copy import LocalCopy
from service.deciding.lookup import Lookup
from service.deciding.precompute import precompute
from service.deciding.signing import SigningKeys
from service.releasing.release_content import PackedRelease, ReleaseContent
from service.releasing.releases import ReleaseWatcher, load
from service.settings import Settings

KEYS = SigningKeys.generate()


@pytest.fixture
def local(tmp_path: Path) -> LocalCopy:
    return LocalCopy(tmp_path / "local")


def live(engine: Engine) -> ReleaseContent:
    content = load(engine)
    assert content is not None
    return content


def worker(engine: Engine, local: LocalCopy) -> Lookup:
    """A worker that has just started on the newest release."""
    lookup = Lookup(engine, 1_000_000, KEYS, local)
    lookup.swap(live(engine))
    file = local.decisions()
    if file is not None:
        lookup.adopt(file)
    return lookup


def uploaded(client: FlaskClient, number: int) -> str:
    body = make_report(device={"model": f"Phone {number}"})
    client.put(f"/v1/reports/{report_id(body)}", data=body)
    return report_id(body)


def test_who_asked_once_is_answered_from_the_file_with_the_same_bytes(
    client: FlaskClient, engine: Engine, operator: Operator, local: LocalCopy
) -> None:
    operator.publish()
    reports = [uploaded(client, number) for number in range(3)]
    computed = {report: worker(engine, local).answer("camera", report) for report in reports}
    assert precompute(engine, local, live(engine), KEYS) == 3
    started = worker(engine, local)
    assert {report: started.hit("camera", report) for report in reports} == computed


def test_after_a_release_everyone_who_asked_before_is_decided_for_anew(
    client: FlaskClient, engine: Engine, operator: Operator, local: LocalCopy, known_report: str
) -> None:
    operator.publish()
    worker(engine, local).answer("camera", known_report)
    precompute(engine, local, live(engine), KEYS)
    operator.publish("second", latency_target_ms=7.0)
    stale = worker(engine, local)
    assert stale.hit("camera", known_report) is None
    assert precompute(engine, local, live(engine), KEYS) == 1
    ready = worker(engine, local).hit("camera", known_report)
    assert ready is not None
    document = json.loads(ready.body)
    assert (document["release"], document["models"]["segmentation"]["latency_target_ms"]) == (2, 7.0)


def test_only_what_is_new_is_decided(client: FlaskClient, engine: Engine, operator: Operator, local: LocalCopy) -> None:
    operator.publish()
    first, second = (uploaded(client, number) for number in range(2))
    worker(engine, local).answer("camera", first)
    assert precompute(engine, local, live(engine), KEYS) == 1
    assert precompute(engine, local, live(engine), KEYS) == 0
    worker(engine, local).answer("camera", second)
    assert precompute(engine, local, live(engine), KEYS) == 1
    file = local.decisions()
    assert file is not None
    assert set(file.pairs()) == {("camera", first), ("camera", second)}


def test_an_answer_from_the_file_is_not_noted_again(
    client: FlaskClient, engine: Engine, operator: Operator, local: LocalCopy, known_report: str
) -> None:
    operator.publish()
    worker(engine, local).answer("camera", known_report)
    precompute(engine, local, live(engine), KEYS)
    worker(engine, local).answer("camera", known_report)
    assert local.take_asked() == set()


def test_notes_survive_a_run_that_fails(
    client: FlaskClient, engine: Engine, operator: Operator, local: LocalCopy, known_report: str
) -> None:
    operator.publish()
    worker(engine, local).answer("camera", known_report)
    assert local.take_asked() == {("camera", known_report)}
    assert precompute(engine, local, live(engine), KEYS) == 1
    assert local.take_asked() == set()


def test_an_app_that_left_the_release_leaves_the_file(
    client: FlaskClient, engine: Engine, operator: Operator, local: LocalCopy, known_report: str
) -> None:
    operator.publish()
    worker(engine, local).answer("camera", known_report)
    local.note_asked("gone", known_report)
    local.note_asked("camera", "0" * 64)
    precompute(engine, local, live(engine), KEYS)
    file = local.decisions()
    assert file is not None
    assert list(file.pairs()) == [("camera", known_report)]


def test_a_worker_takes_no_file_of_another_release(
    client: FlaskClient, engine: Engine, operator: Operator, local: LocalCopy, known_report: str
) -> None:
    operator.publish()
    worker(engine, local).answer("camera", known_report)
    precompute(engine, local, live(engine), KEYS)
    file = local.decisions()
    assert file is not None
    operator.publish("second")
    newer = worker(engine, local)
    newer.adopt(file)
    assert newer.hit("camera", known_report) is None


@pytest.mark.parametrize("name", ["decisions.nnfleet", "release.nnfleet"])
def test_a_damaged_copy_is_as_good_as_none(engine: Engine, operator: Operator, local: LocalCopy, name: str) -> None:
    operator.publish()
    (local.decisions_file.parent / name).write_bytes(b"7 not a time\n")
    assert local.decisions() is None
    assert local.release() is None


def test_a_kept_release_is_the_one_that_was_published(
    engine: Engine, settings: Settings, operator: Operator, local: LocalCopy
) -> None:
    operator.publish()
    heard = threading.Event()

    class Keeping:
        def released(self, content: ReleaseContent, packed: PackedRelease) -> None:
            local.keep_release(packed)
            heard.set()

        def woken(self) -> None:
            return None

    watcher = ReleaseWatcher(engine, settings, Keeping())
    watcher.start()
    try:
        assert heard.wait(10)
    finally:
        watcher.stop()
    assert local.release() == live(engine)
