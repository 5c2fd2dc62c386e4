"""The bounded buffer: an outage never eats the phone, and the rarest records go last."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from nnfleet_client.buffer import SPOOL_SLACK_BYTES, Buffer
from nnfleet_client.record_id import record_id
from nnfleet_client.spool import Spool


def make_buffer(folder: Path | None = None, most_records: int = 1_000, most_bytes: int = 1_000_000) -> Buffer:
    return Buffer(Spool(folder), most_records, most_bytes)


def window(number: int, **more: Any) -> dict[str, Any]:
    return {"record_id": f"w{number}", "kind": "window", **more}


def mark(number: int) -> dict[str, Any]:
    return {"record_id": f"m{number}", "kind": "attempt"}


def ids(buffer: Buffer) -> list[str]:
    return [waiting.record_id for waiting in buffer.next_batch(10_000, 10**9)]


def test_records_leave_in_the_order_they_came() -> None:
    buffer = make_buffer()
    for number in range(5):
        buffer.add(window(number))
    assert ids(buffer) == ["w0", "w1", "w2", "w3", "w4"]


def test_when_full_the_oldest_windows_go_first_and_are_counted() -> None:
    buffer = make_buffer(most_records=3)
    buffer.add(mark(0))
    for number in range(5):
        buffer.add(window(number))
    assert (ids(buffer), buffer.dropped) == (["m0", "w3", "w4"], {"window": 3})


def test_when_only_marks_are_left_the_oldest_mark_goes() -> None:
    buffer = make_buffer(most_records=2)
    for number in range(3):
        buffer.add(mark(number))
    assert (ids(buffer), buffer.dropped) == (["m1", "m2"], {"attempt": 1})


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 300)), max_size=60))
def test_neither_bound_is_ever_exceeded(records: list[tuple[bool, int]]) -> None:
    buffer = make_buffer(most_records=10, most_bytes=1_500)
    for number, (is_mark, size) in enumerate(records):
        buffer.add((mark(number) if is_mark else window(number)) | {"filling": "x" * size})
        assert len(buffer) <= 10
        assert buffer.size_bytes <= 1_500
    assert len(buffer) + buffer.dropped.total() == len(records)


def test_a_record_bigger_than_the_whole_buffer_is_dropped_at_once() -> None:
    buffer = make_buffer(most_bytes=100)
    buffer.add(window(1, filling="x" * 200))
    assert (len(buffer), buffer.dropped) == (0, {"window": 1})


def test_a_batch_keeps_to_both_limits_but_never_starves() -> None:
    buffer = make_buffer()
    for number in range(5):
        buffer.add(window(number, filling="x" * 100))
    assert len(buffer.next_batch(2, 10**9)) == 2
    assert len(buffer.next_batch(10, 320)) == 2
    assert len(buffer.next_batch(10, 1)) == 1


def test_a_held_mark_waits_until_it_is_released() -> None:
    buffer = make_buffer()
    buffer.add(mark(0), held=True)
    assert ids(buffer) == []
    buffer.release("m0")
    assert ids(buffer) == ["m0"]


def test_releasing_or_settling_what_is_gone_changes_nothing() -> None:
    buffer = make_buffer()
    buffer.release("m0")
    buffer.settle("m0")
    assert len(buffer) == 0


def test_records_read_back_keep_their_order_and_their_bounds(tmp_path: Path) -> None:
    buffer = make_buffer(tmp_path)
    for number in range(5):
        buffer.add(window(number))
    assert ids(make_buffer(tmp_path, most_records=2)) == ["w3", "w4"]


def test_a_mark_that_its_window_followed_is_not_read_back(tmp_path: Path) -> None:
    buffer = make_buffer(tmp_path)
    buffer.add(mark(0), held=True)
    buffer.add(window(1, attempt_id="m0"))
    buffer.settle("m0")
    buffer.add(mark(2), held=True)
    assert ids(make_buffer(tmp_path)) == ["w1", "m2"]


def test_a_line_that_is_no_record_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "observations.ndjson").write_bytes(
        b'[1]\n{"kind": "window"}\n\n{"record_id": "w9", "kind": "window"}\n'
    )
    assert ids(make_buffer(tmp_path)) == ["w9"]


def test_the_file_does_not_grow_with_what_was_dropped(tmp_path: Path) -> None:
    buffer = make_buffer(tmp_path, most_records=10)
    for number in range(5_000):
        buffer.add(window(number))
    content = (tmp_path / "observations.ndjson").read_bytes()
    assert len(content) <= 2 * 10 * 200 + SPOOL_SLACK_BYTES


@given(st.integers(0, 2**48 - 1), st.integers(0, 2**32))
def test_a_record_id_is_a_uuid_of_version_seven_that_tells_its_millisecond(unix_ms: int, seed: int) -> None:
    made = UUID(record_id(unix_ms / 1000, random.Random(seed)))
    assert (made.version, made.variant) == (7, "specified in RFC 4122")
    assert abs((made.int >> 80) - unix_ms) <= 1


def test_two_record_ids_of_one_millisecond_differ() -> None:
    rng = random.Random(1)
    assert len({record_id(1.0, rng) for _ in range(1_000)}) == 1_000
