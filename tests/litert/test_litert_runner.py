"""Arms executed with LiteRT in a child process: who ran is read back, and what kills or hangs a child harms nobody (R-G3, R-D1)."""

from __future__ import annotations

import hashlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from nnfleet_client import ArmFailed, Executed, ProcessDied, RunTimeout
from nnfleet_litert import Artifacts, GoldenReference, LiteRtRunner, golden_reference
from nnfleet_litert.bounded import DRAFT
from nnfleet_litert.process import Child
from nnfleet_litert.runner import LiteRtSession

MODEL = Path(__file__).parents[1] / "vectors" / "hey_jarvis.tflite"
SHA256 = hashlib.sha256(MODEL.read_bytes()).hexdigest()
VARIANT = {"sha256": SHA256, "size_bytes": MODEL.stat().st_size, "url": f"/v1/artifacts/{SHA256}"}


def arm(**changes: Any) -> dict[str, Any]:
    return {"runtime": "litert", "delegate": "cpu", "variant": VARIANT, "options": {"threads": 1}} | changes


def runner(folder: Path, golden: GoldenReference | None = None) -> LiteRtRunner:
    return LiteRtRunner(Artifacts(folder, None, httpx.Client(), MODEL.parent), golden)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[LiteRtSession]:
    started = runner(tmp_path).start("wake", "int8.tflite.cpu", arm(limits={"run_timeout_ms": 500}))
    yield started
    started.close()


def test_a_run_is_timed_and_who_ran_is_read_back_from_the_interpreter(session: LiteRtSession) -> None:
    latencies_us = [session.run() for _ in range(3)]
    assert min(latencies_us) >= 0
    init = session.init
    assert init.load_us is not None
    assert init.compile_us is not None
    assert (init.first_run_us, init.cache_hit) == (latencies_us[0], False)
    # All but the call that sets the variables once, and the last operation.
    assert session.executed == Executed("TfLiteXNNPackDelegate", 43, 45, 1)
    assert session.memory_peak_kb >= 0


def test_a_child_that_dies_is_told_apart_from_an_arm_that_fails(session: LiteRtSession) -> None:
    os.kill(session._child._process.pid, signal.SIGSEGV)
    with pytest.raises(ProcessDied, match="signal 11"):
        session.run()


def test_a_child_that_hangs_is_killed_at_its_limit(session: LiteRtSession) -> None:
    process = session._child._process
    process.send_signal(signal.SIGSTOP)
    with pytest.raises(RunTimeout):
        session.run()
    assert process.returncode == -signal.SIGKILL
    assert session.init.first_run_us is None


@pytest.mark.parametrize("changes", [{"runtime": "onnxruntime"}, {"delegate": "nnapi"}])
def test_what_this_machine_has_nothing_for_fails_to_load(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(ArmFailed) as refused:
        runner(tmp_path).start("wake", "x", arm(**changes))
    assert refused.value.phase == "load"


def test_an_arm_that_names_no_file_fails_to_load(tmp_path: Path) -> None:
    with pytest.raises(ArmFailed, match="load:no-file-named"):
        runner(tmp_path).start("wake", "x", {"runtime": "litert", "delegate": "cpu"})


def test_a_file_that_is_no_model_fails_to_compile_and_leaves_no_process(tmp_path: Path) -> None:
    rubbish = tmp_path / "rubbish.tflite"
    rubbish.write_bytes(b"no model at all" * 100)
    variant = {"sha256": hashlib.sha256(rubbish.read_bytes()).hexdigest(), "size_bytes": 1500}
    with pytest.raises(ArmFailed) as refused:
        LiteRtRunner(Artifacts(tmp_path / "kept", None, httpx.Client(), tmp_path)).start("x", "x", arm(variant=variant))
    assert (refused.value.phase, refused.value.code) == ("compile", "ValueError")


def reference(folder: Path, outputs: float) -> GoldenReference:
    np.full(3 * 40, 0.5, "<f4").tofile(folder / "inputs")
    np.array([outputs], "<f4").tofile(folder / "outputs")
    return GoldenReference(folder / "inputs", folder / "outputs", tolerance=0.5)


@pytest.mark.parametrize(("outputs", "good"), [(0.0, True), (0.5, False)])
def test_outputs_are_compared_as_real_numbers_on_the_fixed_input(tmp_path: Path, outputs: float, good: bool) -> None:
    session = runner(tmp_path, reference(tmp_path, outputs)).start("wake", "x", arm())
    checked = session.golden()
    session.close()
    assert checked is not None
    assert (checked.checks, checked.good) == (1, good)


def test_a_reference_of_another_model_fails_to_run(tmp_path: Path) -> None:
    golden = reference(tmp_path, 0.0)
    np.zeros(7, "<f4").tofile(golden.inputs)
    session = runner(tmp_path, golden).start("wake", "x", arm())
    with pytest.raises(ArmFailed, match="run:ValueError"):
        session.golden()
    session.close()


def test_what_a_decision_states_is_fetched_and_a_reference_without_files_is_none(tmp_path: Path) -> None:
    digest = hashlib.sha256(b"1234").hexdigest()
    http = httpx.Client(transport=httpx.MockTransport(lambda _: httpx.Response(200, content=b"1234")))
    artifacts = Artifacts(tmp_path, "http://fleet.test", http)
    stated: dict[str, Any] = {"input_sha256": digest, "tolerance": 0.04}
    assert golden_reference(stated, artifacts) is None
    assert golden_reference(None, artifacts) is None
    stated |= {"output_sha256": digest, "input_url": "/v1/artifacts/a", "output_url": "/v1/artifacts/b"}
    assert golden_reference(stated, artifacts) == GoldenReference(tmp_path / digest, tmp_path / digest, 0.04)


def test_closing_a_child_twice_is_closing_it() -> None:
    child = Child()
    child.close()
    child.close()
    assert not child.alive


Answer = Callable[[httpx.Request], httpx.Response]


def fetched(folder: Path, answer: Answer, **variant: Any) -> Path:
    http = httpx.Client(transport=httpx.MockTransport(answer))
    return Artifacts(folder, "http://fleet.test", http).path(VARIANT | variant)


def test_a_file_is_fetched_once_and_kept_under_its_digest(tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        return httpx.Response(200, content=MODEL.read_bytes())

    assert fetched(tmp_path, answer) == fetched(tmp_path, answer) == tmp_path / SHA256
    assert asked == [f"/v1/artifacts/{SHA256}"]


def _away(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("no route", request=request)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (lambda _: httpx.Response(200, content=b"x" * MODEL.stat().st_size), "artifact-digest-mismatch"),
        (lambda _: httpx.Response(200, content=MODEL.read_bytes() + b"x"), "artifact-too-large"),
        (lambda _: httpx.Response(404), "artifact-http-404"),
        (_away, "artifact-network"),
    ],
)
def test_bytes_that_are_not_what_was_decided_never_stay(tmp_path: Path, answer: Answer, code: str) -> None:
    with pytest.raises(ArmFailed) as refused:
        fetched(tmp_path, answer)
    assert (refused.value.phase, refused.value.code) == ("load", code)
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_refuses_is_no_crash_of_the_arm(tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("in the way of a folder")
    with pytest.raises(ArmFailed, match="load:artifact-disk"):
        fetched(tmp_path / "a file", lambda _: httpx.Response(200, content=MODEL.read_bytes()))


def test_files_of_old_releases_make_room_and_drafts_of_dead_processes_are_swept(tmp_path: Path) -> None:
    contents = [bytes([number]) * 400 for number in range(3)]
    digests = [hashlib.sha256(content).hexdigest() for content in contents]
    by_path = dict(zip(digests, contents, strict=True))
    http = httpx.Client(
        transport=httpx.MockTransport(lambda request: httpx.Response(200, content=by_path[request.url.path[1:]]))
    )
    artifacts = Artifacts(tmp_path, "http://fleet.test", http, most_bytes=1_000)
    (tmp_path / f"half{DRAFT}").write_bytes(b"x")
    os.utime(tmp_path / f"half{DRAFT}", (1, 1))
    for second, digest in enumerate(digests[:2]):
        os.utime(artifacts.path({"sha256": digest, "size_bytes": 400, "url": f"/{digest}"}), (second + 10, second + 10))
    artifacts.path({"sha256": digests[0], "size_bytes": 400, "url": None})  # used again
    artifacts.path({"sha256": digests[2], "size_bytes": 400, "url": f"/{digests[2]}"})
    assert {path.name for path in tmp_path.iterdir()} == {digests[0], digests[2]}


def test_without_a_server_only_what_lies_here_is_run(tmp_path: Path) -> None:
    with pytest.raises(ArmFailed, match="artifact-not-here"):
        Artifacts(tmp_path, None, httpx.Client()).path(VARIANT)


def test_two_arms_at_once_do_not_share_a_process(tmp_path: Path) -> None:
    seen: list[int] = []

    def once() -> None:
        started = runner(tmp_path).start("wake", "x", arm())
        seen.append(started._child._process.pid)
        started.run()
        started.close()

    threads = [threading.Thread(target=once) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(seen)) == 2
