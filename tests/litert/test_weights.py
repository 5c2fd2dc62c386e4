"""The compile cache of the LiteRT runner (R-G4, R-C8): what one start packed serves the next, and nothing else does."""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from nnfleet_client import ArmFailed, Init, ProcessDied, RunTimeout
from nnfleet_litert import Artifacts, LiteRtRunner, WeightCache
from nnfleet_litert.bounded import DRAFT
from nnfleet_litert.process import Child
from nnfleet_litert.weights import key

MODEL = Path(__file__).parents[1] / "vectors" / "hey_jarvis.tflite"
VARIANT = {"sha256": hashlib.sha256(MODEL.read_bytes()).hexdigest(), "size_bytes": MODEL.stat().st_size}


def arm(**changes: Any) -> dict[str, Any]:
    return {"runtime": "litert", "delegate": "cpu", "variant": VARIANT, "options": {"threads": 1}} | changes


def started(folder: Path, cache: WeightCache, **changes: Any) -> Init:
    """One start and one run of the small model, and what it cost."""
    artifacts = Artifacts(folder / "artifacts", None, httpx.Client(), MODEL.parent)
    session = LiteRtRunner(artifacts, weights=cache).start("wake", "int8.tflite.cpu", arm(**changes))
    session.run()
    init = session.init
    session.close()
    return init


def kept(folder: Path) -> Sequence[Path]:
    return sorted((folder / "weights").iterdir())


def test_the_second_start_finds_what_the_first_one_packed_and_says_so(tmp_path: Path) -> None:
    cache = WeightCache(tmp_path / "weights")
    first, second = (started(tmp_path, cache) for _ in range(2))
    assert (first.cache_hit, second.cache_hit) == (False, True)
    assert first.compile_us is not None
    assert second.compile_us is not None
    (file,) = kept(tmp_path)
    assert file.stat().st_size > 10_000


@pytest.mark.parametrize(
    "changes",
    [
        {"options": {"threads": 2}},
        {"options": {"threads": 1, "compile_cache_token": "after the update"}},
        {"variant": {"sha256": "another file's"}},
    ],
    ids=["threads", "token", "file"],
)
def test_other_files_and_other_settings_are_packed_for_themselves(changes: dict[str, Any]) -> None:
    assert key(arm(**changes)) != key(arm()) == key(arm())


@pytest.mark.parametrize(("name", "made"), [("version", lambda _: "99.0"), ("processor", lambda: {"kind": "aarch64"})])
def test_another_runtime_and_another_processor_find_nothing(
    monkeypatch: pytest.MonkeyPatch, name: str, made: Callable[..., Any]
) -> None:
    before = key(arm())
    monkeypatch.setattr(f"nnfleet_litert.weights.{name}", made)
    assert key(arm()) != before


def test_a_damaged_file_is_packed_anew_and_not_called_a_hit(tmp_path: Path) -> None:
    cache = WeightCache(tmp_path / "weights")
    started(tmp_path, cache)
    (file,) = kept(tmp_path)
    file.write_bytes(file.read_bytes()[:1_000])
    assert started(tmp_path, cache).cache_hit is False
    assert started(tmp_path, cache).cache_hit is True


def test_weights_that_a_start_failed_with_are_thrown_away(tmp_path: Path) -> None:
    cache = WeightCache(tmp_path / "weights")
    place = cache.place(arm())
    assert place is not None
    place.path.write_bytes(b"rubbish")
    cache.keep(place)
    again = cache.place(arm())
    assert again is not None
    cache.discard(again)
    assert kept(tmp_path) == []


@pytest.mark.parametrize(
    "trouble", [ProcessDied(), RunTimeout(), ArmFailed("compile", "x")], ids=lambda it: type(it).__name__
)
def test_no_start_that_went_wrong_leaves_anything_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: BaseException
) -> None:
    def ask(child: Child, phase: str, limit_ms: float, **command: Any) -> dict[str, Any]:
        Path(command["weights"]).write_bytes(b"half of it")
        os.kill(child._process.pid, signal.SIGKILL)
        raise trouble

    monkeypatch.setattr(Child, "ask", ask)
    with pytest.raises(type(trouble)):
        started(tmp_path, WeightCache(tmp_path / "weights"))
    assert kept(tmp_path) == []


def filled(folder: Path, cache: WeightCache, name: str, size_bytes: int, used_s: int) -> Path:
    place = cache.place(arm(variant={"sha256": name}))
    assert place is not None
    place.path.write_bytes(b"x" * size_bytes)
    cache.keep(place)
    os.utime(place.kept, (used_s, used_s))
    return place.kept


def test_what_was_used_longest_ago_makes_room(tmp_path: Path) -> None:
    cache = WeightCache(tmp_path / "weights", most_bytes=1_000)
    old, newer = filled(tmp_path, cache, "a", 400, used_s=100), filled(tmp_path, cache, "b", 400, used_s=200)
    newest = filled(tmp_path, cache, "c", 400, used_s=300)
    assert kept(tmp_path) == sorted([newer, newest])
    assert not old.exists()


def test_a_file_bigger_than_the_whole_room_is_not_kept(tmp_path: Path) -> None:
    cache = WeightCache(tmp_path / "weights", most_bytes=1_000)
    assert not filled_once(cache, 1_001)
    assert kept(tmp_path) == []


def filled_once(cache: WeightCache, size_bytes: int) -> bool:
    place = cache.place(arm())
    assert place is not None
    place.path.write_bytes(b"x" * size_bytes)
    return cache.keep(place)


def test_drafts_of_processes_that_are_long_gone_are_swept_and_those_of_now_are_not(tmp_path: Path) -> None:
    cache = WeightCache(tmp_path / "weights")
    filled_once(cache, 10)
    gone, going = (tmp_path / "weights" / f"{name}{DRAFT}" for name in ("gone", "going"))
    gone.write_bytes(b"x")
    os.utime(gone, (1, 1))
    going.write_bytes(b"x")
    filled_once(cache, 10)
    assert not gone.exists()
    assert going.exists()


def test_a_disk_that_refuses_costs_the_cache_and_not_the_start(tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("in the way of a folder")
    assert started(tmp_path, WeightCache(tmp_path / "a file" / "weights")).cache_hit is False
