"""`POST /v1/telemetry`: bounded, complete or not at all, never doubled, and no record sinks another (R-D6, R-D7)."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import zstandard
from builders import MIB, make_attempt, make_observation, make_report
from flask.testing import FlaskClient
from sqlalchemy import Engine, text
from sqlmodel import Session, select

from policies.report import report_id
from service.app import create_app
from service.intake.batch import MAX_RECORDS
from service.settings import Settings
from service.store.tables import ObservationRow

pytestmark = pytest.mark.usefixtures("known_report")
CLEAN = {"accepted": 0, "duplicate": 0, "set_aside": [], "rejected": []}


def post(client: FlaskClient, body: Any, **headers: str) -> Any:
    plain = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {"Content-Type": "application/json"} | {name.replace("_", "-"): value for name, value in headers.items()}
    return client.post("/v1/telemetry", data=plain, headers=named)


def send(client: FlaskClient, *records: Any) -> dict[str, Any]:
    answer = post(client, list(records))
    assert answer.status_code == 200, answer.text
    verdicts: dict[str, Any] = answer.get_json()
    return verdicts


def stored(engine: Engine) -> list[ObservationRow]:
    with Session(engine) as session:
        return list(session.exec(select(ObservationRow).order_by(text("record_id"))))


def ndjson(records: Sequence[Any]) -> bytes:
    return b"\n".join(record if isinstance(record, bytes) else json.dumps(record).encode() for record in records)


def test_an_array_is_stored_as_flat_rows_that_name_asked_and_executed(client: FlaskClient, engine: Engine) -> None:
    record = make_observation((4100, 4150, 4300))
    assert send(client, record) == CLEAN | {"accepted": 1}
    [row] = stored(engine)
    assert (row.requested_accelerator, row.executed_by) == ("google-edgetpu", "nnapi:google-edgetpu")
    assert (row.run_count, row.latency_min_us, row.latency_max_us, row.latency_sum_us) == (3, 4100, 4300, 12_550)
    assert row.latency_p50_us == pytest.approx(4150, rel=0.01)
    assert row.latency_p90_us == pytest.approx(4300, rel=0.01)
    assert (row.thermal_after, row.golden_checks, row.golden_passed) == (0, 2, 2)
    assert row.set_aside is None
    assert row.set_aside_payload is None


@pytest.mark.parametrize("kind", ["application/x-ndjson", "application/jsonl; charset=utf-8"])
def test_lines_of_json_are_taken_with_blank_lines_between(client: FlaskClient, engine: Engine, kind: str) -> None:
    body = b"\n" + ndjson([make_observation(), make_attempt()]) + b"\r\n\n"
    assert post(client, body, Content_Type=kind).get_json() == CLEAN | {"accepted": 2}
    assert {row.kind for row in stored(engine)} == {"window", "attempt"}


def zstd_of_unstated_size(body: bytes) -> bytes:
    writer = zstandard.ZstdCompressor().compressobj()
    return writer.compress(body) + writer.flush()


@pytest.mark.parametrize(
    ("encoding", "compress"),
    [
        ("gzip", gzip.compress),
        ("GZIP ", gzip.compress),
        ("zstd", zstandard.compress),
        ("zstd", zstd_of_unstated_size),
        ("identity", bytes),
    ],
)
def test_each_encoding_is_taken(client: FlaskClient, encoding: str, compress: Callable[[bytes], bytes]) -> None:
    body = compress(json.dumps([make_observation() for _ in range(50)]).encode())
    assert post(client, body, Content_Encoding=encoding).get_json() == CLEAN | {"accepted": 50}


def refused(answer: Any, status: int, code: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.content_type == "application/problem+json"
    problem: dict[str, Any] = answer.get_json()
    assert problem["code"] == code
    return problem


@pytest.mark.parametrize(("encoding", "compress"), [("gzip", gzip.compress), ("zstd", zstandard.compress)])
def test_a_bomb_is_refused(
    client: FlaskClient, engine: Engine, encoding: str, compress: Callable[[bytes], bytes]
) -> None:
    bomb = compress(b" " * (64 * MIB))
    assert len(bomb) < MIB
    problem = refused(post(client, bomb, Content_Encoding=encoding), 413, "body-too-large")
    assert problem["limit"] == 16 * MIB
    assert stored(engine) == []


def test_a_body_over_the_limit_says_the_limit(client: FlaskClient) -> None:
    assert refused(post(client, b" " * (MIB + 1)), 413, "body-too-large")["limit"] == MIB


HUGE = json.dumps({"padding": "x" * (17 * MIB)}).encode()
LARGE = json.dumps({"padding": "x" * (MIB + 1)}).encode()


@pytest.mark.parametrize(
    ("body", "encoding", "limit_bytes", "splittable"),
    [
        (b"[" + LARGE + b"]", "identity", MIB, False),
        (b"[{}," + LARGE + b"]", "identity", MIB, True),
        (b"[" + HUGE + b"]", "gzip", 16 * MIB, None),
        (b"[{}, " + HUGE + b"]", "gzip", 16 * MIB, True),
        (b"[" + b"[" * (17 * MIB), "gzip", 16 * MIB, None),
        (LARGE, "ndjson", MIB, False),
        (b"{}\n" + LARGE, "ndjson", MIB, True),
        (HUGE, "ndjson gzip", 16 * MIB, False),
        (b"\n{}\n" + HUGE, "ndjson gzip", 16 * MIB, True),
        (b"[" + b",".join([b"{}"] * (MAX_RECORDS + 1)) + b"]", "identity", MIB, True),
    ],
)
def test_what_is_too_large_says_whether_fewer_records_would_help(
    client: FlaskClient, engine: Engine, body: bytes, encoding: str, limit_bytes: int, splittable: bool | None
) -> None:
    lines, zipped = "ndjson" in encoding, "gzip" in encoding
    answer = post(
        client,
        gzip.compress(body) if zipped else body,
        Content_Type="application/x-ndjson" if lines else "application/json",
        Content_Encoding="gzip" if zipped else "identity",
    )
    assert answer.status_code == 413
    problem = answer.get_json()
    assert (problem["limit_bytes"], problem["limit_items"]) == (limit_bytes, MAX_RECORDS)
    assert problem.get("splittable") is splittable
    assert stored(engine) == []


@pytest.mark.parametrize(("encoding", "compress"), [("gzip", gzip.compress), ("zstd", zstandard.compress)])
@pytest.mark.parametrize("fault", ["cut", "goes on", "garbage", "empty"])
def test_a_compressed_body_that_is_not_whole_is_refused_whole(
    client: FlaskClient, engine: Engine, encoding: str, compress: Callable[[bytes], bytes], fault: str
) -> None:
    whole = compress(ndjson([make_observation() for _ in range(20)]))
    body = {"cut": whole[:-5], "goes on": whole + whole, "garbage": b"no such thing", "empty": b""}[fault]
    answer = post(client, body, Content_Encoding=encoding, Content_Type="application/x-ndjson")
    refused(answer, 400, "malformed-body")
    assert stored(engine) == []


@pytest.mark.parametrize("encoding", ["br", "gzip, gzip", "deflate"])
def test_an_encoding_that_is_not_taken_is_named(client: FlaskClient, encoding: str) -> None:
    assert (
        refused(post(client, [], Content_Encoding=encoding), 415, "unsupported-encoding")["field"] == "Content-Encoding"
    )


@pytest.mark.parametrize("body", [b"", b"{}", b"[1,", b"\xff", b"[" * 100_000, b"[" * 100_000 + b"]" * 100_000])
def test_a_body_that_is_no_array_is_refused(client: FlaskClient, body: bytes) -> None:
    refused(post(client, body), 400, "malformed-json")


def test_a_batch_of_too_many_records_says_the_limit(client: FlaskClient, engine: Engine) -> None:
    answer = post(client, b"[" + b",".join([b"{}"] * (MAX_RECORDS + 1)) + b"]")
    assert refused(answer, 413, "too-many-records")["limit"] == MAX_RECORDS
    assert stored(engine) == []


def test_the_largest_batch_is_taken_in_one_piece(client: FlaskClient, engine: Engine) -> None:
    body = gzip.compress(ndjson([make_attempt(model=f"m{number % 40}") for number in range(MAX_RECORDS)]))
    answer = post(client, body, Content_Encoding="gzip", Content_Type="application/x-ndjson")
    assert answer.get_json() == CLEAN | {"accepted": MAX_RECORDS}
    assert len(stored(engine)) == MAX_RECORDS


def with_histogram(**changes: Any) -> dict[str, Any]:
    record = make_observation()
    record["runs"]["latency_us"] |= changes
    return record


BAD = {
    "no object": b"17",
    "null": b"null",
    "a broken line": b'{"record_id": ',
    "no UTF-8": b'{"app": "\xff"}',
    "half a surrogate pair": json.dumps(make_observation(sdk="\ud800")).encode(),
    "nested without end": b'{"new": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "an integer of thousands of digits": b'{"release": ' + b"9" * 5000 + b"}",
    "NaN": json.dumps(with_histogram(min=float("nan"))).encode(),
    "an infinity by its exponent": json.dumps(make_observation()).replace("0.98", "1e999").encode(),
    "no record id": {k: v for k, v in make_observation().items() if k != "record_id"},
    "an unknown kind": make_observation(kind="guess"),
    "NUL in a name": make_observation(app="cam\x00era"),
    "NUL in a text": make_observation(sdk="python\x00"),
    "NUL in an error": make_observation(runs={"errors": {"dead\x00object": 1}}),
    "a line feed after a name": make_observation(app="camera\n"),
    "a line feed after a digest": make_observation(report_id="0" * 64 + "\n"),
    "nodes that would wrap": make_observation(executed={"by": "x", "delegated_nodes": 2**40}),
    "partitions that would wrap": make_observation(executed={"by": "x", "partitions": 2**15}),
    "a count that would wrap": make_observation(runs={"count": 2**31}),
    "a release that would wrap": make_observation(release=2**31),
    "memory that would wrap": make_observation(memory_peak_kb=2**63),
    "a start-up time of days": make_observation(init={"compile_us": 10**12}),
    "a propensity over one": make_observation(propensity=1.5),
    "a time without zone": make_observation(device_time="2026-05-01T10:00:00"),
    "one bucket twice": with_histogram(histogram={"gamma": 1.02, "counts": {"420": 1, "0420": 2}}),
    "a bucket below zero": with_histogram(histogram={"gamma": 1.02, "counts": {"-1": 3}}),
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_a_bad_record_is_named_by_its_index_and_sinks_no_other(client: FlaskClient, engine: Engine, bad: Any) -> None:
    body = ndjson([make_observation(), bad, make_observation()])
    answer = post(client, body, Content_Type="application/x-ndjson")
    assert answer.status_code == 200, answer.text
    verdicts = answer.get_json()
    assert [(r["index"], r["reason"]) for r in verdicts["rejected"]] == [(1, "invalid-record")]
    assert verdicts["accepted"] == len(stored(engine)) == 2


IMPLAUSIBLE = {
    "negative-latency": with_histogram(min=-120),
    "negative-duration": make_observation(init={"compile_us": -(2**60)}),
    "latency-out-of-range": with_histogram(max=700_000_000),
    "latency-impossible": with_histogram(sum=2**70),
    "histogram-impossible": with_histogram(histogram={"gamma": 1.05, "counts": {"1": 3}}),
    "runs-without-latency": make_observation((), runs={"count": 3}),
    "golden-impossible": make_observation(golden={"checks": 1, "passed": 2}),
    "delegated-impossible": make_observation(executed={"by": "x", "delegated_nodes": 5, "total_nodes": 4}),
    "window-without-runs": {k: v for k, v in make_observation().items() if k != "runs"},
}


@pytest.mark.parametrize("reason", IMPLAUSIBLE)
def test_what_cannot_be_is_set_aside_with_its_reason_and_its_bytes(
    client: FlaskClient, engine: Engine, reason: str
) -> None:
    record = IMPLAUSIBLE[reason]
    verdicts = send(client, record, make_observation())
    assert verdicts["set_aside"] == [{"record_id": record["record_id"], "reason": reason}]
    assert verdicts["accepted"] == 1
    [row] = [row for row in stored(engine) if row.set_aside]
    assert row.set_aside == reason
    assert json.loads(row.set_aside_payload or b"") == record
    assert (row.latency_p50_us, row.latency_sum_us, row.histogram_counts) == (None, None, None)


def test_latencies_in_milliseconds_by_mistake_are_set_aside(client: FlaskClient) -> None:
    assert send(client, make_observation((4, 4, 4)))["set_aside"][0]["reason"] == "latency-out-of-range"


@pytest.mark.parametrize(
    "clock",
    ["1970-01-01T00:00:07Z", "2038-01-19T03:14:08Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"],
)
def test_a_wrong_clock_loses_nothing_and_its_skew_is_kept(client: FlaskClient, engine: Engine, clock: str) -> None:
    assert send(client, make_observation(device_time=clock))["accepted"] == 1
    [row] = stored(engine)
    assert row.clock_skew_s is not None
    assert abs(row.clock_skew_s) > 86_400


def test_a_window_without_a_single_success_keeps_its_errors(client: FlaskClient, engine: Engine) -> None:
    send(client, make_observation((), runs={"errors": {"DEAD_OBJECT": 3}, "timeouts": 1}))
    [row] = stored(engine)
    assert (row.errors, row.timeouts, row.run_count, row.latency_p50_us) == ({"DEAD_OBJECT": 3}, 1, 0, None)


def test_fields_of_a_newer_client_are_no_error(client: FlaskClient) -> None:
    assert send(client, make_observation(energy_mj=17))["accepted"] == 1


def test_a_retry_is_a_duplicate_and_stored_once(client: FlaskClient, engine: Engine) -> None:
    record = make_observation()
    assert send(client, record) == CLEAN | {"accepted": 1}
    assert send(client, record, make_observation()) == CLEAN | {"accepted": 1, "duplicate": 1}
    assert len(stored(engine)) == 2


def test_the_same_record_twice_in_a_batch_is_stored_once(client: FlaskClient, engine: Engine) -> None:
    record = make_observation()
    assert send(client, record, record) == CLEAN | {"accepted": 1, "duplicate": 1}
    assert len(stored(engine)) == 1


@pytest.mark.parametrize("same_batch", [True, False])
def test_an_id_with_another_body_is_a_conflict_and_the_first_stays(
    client: FlaskClient, engine: Engine, same_batch: bool
) -> None:
    first = make_observation((4150,))
    second = make_observation((41_500,), record_id=first["record_id"])
    if same_batch:
        verdicts = send(client, first, second)
    else:
        send(client, first)
        verdicts = send(client, make_observation(), second)
    assert verdicts["rejected"] == [{"index": 1, "reason": "id-conflict"}]
    assert [row.latency_sum_us for row in stored(engine) if str(row.record_id) == first["record_id"]] == [4150]


def test_batches_that_arrive_at_once_store_each_record_once(
    client: FlaskClient, engine: Engine, settings: Settings
) -> None:
    records = [make_observation() for _ in range(40)]
    app = create_app(settings, engine)
    answers: list[dict[str, Any]] = []
    ready = threading.Barrier(4)

    def upload(batch: list[Any]) -> None:
        with app.test_client() as mine:
            ready.wait(timeout=60)
            answers.append(send(mine, *batch))

    threads = [threading.Thread(target=upload, args=(records[:: step or 1],)) for step in (1, -1, 1, -1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert len(answers) == 4
    assert sum(answer["accepted"] for answer in answers) == 40
    assert sum(answer["duplicate"] for answer in answers) == 120
    assert len(stored(engine)) == 40


def test_a_record_of_an_unknown_report_is_rejected_alone_and_taken_once_the_report_is_there(
    client: FlaskClient, engine: Engine
) -> None:
    report = make_report(device={"model": "Pixel 11"})
    record = make_observation(report_id=report_id(report))
    assert send(client, record, make_observation())["rejected"] == [{"index": 0, "reason": "unknown-report"}]
    client.put(f"/v1/reports/{report_id(report)}", data=report)
    assert send(client, record) == CLEAN | {"accepted": 1}
    assert len(stored(engine)) == 2


def test_an_emulator_is_stored_and_set_aside(client: FlaskClient, engine: Engine) -> None:
    report = make_report(device={"model": "sdk_gphone64_arm64"})
    client.put(f"/v1/reports/{report_id(report)}", data=report)
    verdicts = send(client, make_observation(report_id=report_id(report)))
    assert [aside["reason"] for aside in verdicts["set_aside"]] == ["population-not-learnable"]
    assert [row.set_aside for row in stored(engine)] == ["population-not-learnable"]


def test_a_write_that_fails_stores_no_half_of_a_batch_and_the_retry_counts(client: FlaskClient, engine: Engine) -> None:
    records = [make_observation(model="a"), make_observation(model="b")]
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE observation ADD CONSTRAINT only_a CHECK (model = 'a')"))
    try:
        assert post(client, records).status_code == 500
        assert stored(engine) == []
    finally:
        with engine.begin() as connection:
            connection.execute(text("ALTER TABLE observation DROP CONSTRAINT only_a"))
    assert send(client, *records) == CLEAN | {"accepted": 2}


def test_records_and_their_tally_are_stored_together_or_not_at_all(client: FlaskClient, engine: Engine) -> None:
    send(
        client, make_observation()
    )  # the worker knows the report and the cohort now, and asks the database nothing first
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE telemetry_tally ADD CONSTRAINT shut CHECK (false) NOT VALID"))
    record = make_observation()
    try:
        assert post(client, [record]).status_code == 500
        assert len(stored(engine)) == 1
    finally:
        with engine.begin() as connection:
            connection.execute(text("ALTER TABLE telemetry_tally DROP CONSTRAINT shut"))
    assert send(client, record) == CLEAN | {"accepted": 1}
