"""Releases under contention and in strange company: whole, in order, and never a reason to stop serving (R-F2)."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import zstandard
from builders import make_model_json
from operating import Operator
from sqlalchemy import Engine, text
from sqlmodel import Session

from service import clock
from service.deciding.local_copy import LocalCopy
from service.deciding.lookup import Lookup
from service.releasing.publishing import publish
from service.releasing.release_content import PackedRelease, ReleaseContent
from service.releasing.releases import ReleaseWatcher, load
from service.settings import Settings
from service.store import releases
from service.store.releases import NewRelease
from service.wsgi import LookupFollower

MODEL = "/v1/models/camera/segmentation"


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.01)


def test_a_publisher_that_had_to_wait_publishes_what_is_stored_by_then(engine: Engine, operator: Operator) -> None:
    operator.publish(latency_target_ms=20.0)
    waiting = text("SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'release'::regclass")
    late = threading.Thread(target=publish, args=(engine, "late", clock.now()))
    with Session(engine) as earlier, earlier.begin():
        releases.begin_release(earlier)
        late.start()
        with engine.connect() as onlooker:
            wait_for(lambda: onlooker.execute(waiting).scalar_one() == 1)
        assert operator.send("PUT", MODEL, make_model_json(latency_target_ms=10.0)).status_code == 200
    late.join(timeout=60)
    content = load(engine, 2)
    assert content is not None
    assert [model.latency_target_ms for model in content.models["camera"]] == [10.0]


def test_a_worker_that_loads_its_first_release_keeps_a_newer_one_it_heard_of_meanwhile(
    engine: Engine, operator: Operator, known_report: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    operator.publish("first")
    lookup = Lookup(engine, 1_000_000)

    def slow_load(engine: Engine) -> Any:
        content = load(engine, 1)
        operator.publish("second")
        newest = load(engine)
        assert newest is not None
        lookup.swap(newest)
        return content

    monkeypatch.setattr("service.deciding.lookup.load", slow_load)
    assert json.loads(lookup.answer("camera", known_report).body)["release"] == 2
    assert lookup.release == 2


def test_answers_while_releases_change_are_each_of_one_release(
    engine: Engine, operator: Operator, known_report: str
) -> None:
    contents = [load(engine, operator.publish(latency_target_ms=float(number))) for number in (1, 2)]
    lookup = Lookup(engine, 1_000_000)
    stop = threading.Event()

    def publish_in_a_loop() -> None:
        while not stop.is_set():
            for content in contents:
                assert content is not None
                lookup.swap(content)
                time.sleep(0.001)

    publisher = threading.Thread(target=publish_in_a_loop)
    publisher.start()
    seen: set[int] = set()

    def ask() -> bool:
        for _ in range(50):
            answer = lookup.answer("camera", known_report)
            document = json.loads(answer.body)
            seen.add(document["release"])
            assert document["models"]["segmentation"]["latency_target_ms"] == document["release"]
            assert hashlib.sha256(answer.body).hexdigest().startswith(answer.etag.strip('"'))
        return seen == {1, 2}

    try:
        wait_for(ask)
    finally:
        stop.set()
        publisher.join(timeout=60)


NEWER = {"documents": [{"app": "camera", "new": 1}], "models": [], "rankings": {}}
UNREADABLE = {
    "no zstd": b"junk",
    "no JSON": zstandard.compress(b"junk"),
    "no object": zstandard.compress(b"[]"),
    "parts missing": zstandard.compress(b"{}"),
    "a field of a newer installation": zstandard.compress(json.dumps(NEWER).encode()),
}


def store(engine: Engine, content: bytes) -> int:
    with Session(engine) as session, session.begin():
        releases.keep_content(session, content, "0" * 64)
        return releases.add_release(session, NewRelease("0" * 64, "strange", "a newer installation"), clock.now())


@pytest.mark.parametrize("content", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_a_release_that_cannot_be_read_says_so(engine: Engine, content: bytes) -> None:
    store(engine, content)
    with pytest.raises(ValueError, match=r"."):
        load(engine)


class Hearing:
    """A follower that writes down what it hears."""

    def __init__(self, seen: list[int]) -> None:
        self.seen = seen

    def released(self, content: ReleaseContent, packed: PackedRelease) -> None:
        self.seen.append(content.number)

    def woken(self) -> None:
        return None


@pytest.mark.parametrize("first", [True, False], ids=["at the start", "later"])
def test_a_watcher_outlives_a_release_it_cannot_read(
    engine: Engine, settings: Settings, operator: Operator, first: bool
) -> None:
    content = UNREADABLE["a field of a newer installation"]
    seen: list[int] = []
    operator.publish("good")
    quick = replace(settings, watch_interval_s=0.05)
    watcher = ReleaseWatcher(engine, quick, Hearing(seen))
    if first:
        store(engine, content)
        watcher.start()
    else:
        watcher.start()
        store(engine, content)
    try:
        mended = operator.publish("mended")
        wait_for(lambda: seen[-1:] == [mended])
    finally:
        watcher.stop()
    assert 2 not in seen


@pytest.mark.parametrize("state", ["gone", "a file"])
def test_a_host_that_cannot_keep_anything_answers_and_follows_releases(
    engine: Engine, settings: Settings, operator: Operator, known_report: str, tmp_path: Path, state: str
) -> None:
    local = LocalCopy(tmp_path / "local")
    lookup = Lookup(engine, 1_000_000, local=local)
    (tmp_path / "local").rmdir()
    if state == "a file":
        (tmp_path / "local").write_text("in the way")
    follower = LookupFollower(lookup, local)
    follower.start_from_copy()
    operator.publish("one")
    watcher = ReleaseWatcher(engine, replace(settings, watch_interval_s=0.05), follower)
    watcher.start()
    try:
        assert json.loads(lookup.answer("camera", known_report).body)["release"] == 1
        operator.publish("two")
        wait_for(lambda: lookup.release == 2)
        assert json.loads(lookup.answer("camera", known_report).body)["release"] == 2
    finally:
        watcher.stop()
    kept = local.release()
    assert (kept.number if kept else None) == (2 if state == "gone" else None)


def test_a_watcher_outlives_a_disk_that_fails(engine: Engine, settings: Settings, operator: Operator) -> None:
    seen: list[int] = []

    class Failing(Hearing):
        def released(self, content: ReleaseContent, packed: PackedRelease) -> None:
            super().released(content, packed)
            if len(seen) <= 2:
                raise OSError("the disk does not answer")

    operator.publish("one")
    watcher = ReleaseWatcher(engine, replace(settings, watch_interval_s=0.05), Failing(seen))
    watcher.start()
    try:
        operator.publish("two")
        wait_for(lambda: seen[-1:] == [2] and len(seen) > 2)
    finally:
        watcher.stop()
