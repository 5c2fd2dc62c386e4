"""What a batch costs at most, and what of it is acknowledged (R-D6)."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
import zstandard
from builders import MIB, make_attempt, make_observation, make_report
from flask.testing import FlaskClient
from sqlalchemy import Engine, text

from policies.errors import MalformedJson
from policies.report import report_id
from service import clock
from service.intake.batch import MAX_RECORDS, TooManyRecords
from service.intake.intake import Intake
from service.intake.verdicts import Verdicts
from service.settings import Settings


def ingest(engine: Engine, body: bytes, encoding: str, *, ndjson: bool) -> Verdicts:
    return Intake.of(engine, Settings("")).take(body, encoding, clock.now(), ndjson=ndjson)


ELEMENTS = b"[" + b"1," * (8 * MIB - 2) + b"1]"


@pytest.mark.parametrize(
    ("plain", "ndjson"),
    [(ELEMENTS, False), (b"1\n" * (8 * MIB), True), (b"\n" * (16 * MIB), True)],
    ids=["array", "lines", "blanks"],
)
def test_millions_of_records_are_refused_for_no_more_memory_than_their_bytes(
    engine: Engine, plain: bytes, ndjson: bool
) -> None:
    body = gzip.compress(plain, 1)
    assert len(body) < MIB
    tracemalloc.start()
    try:
        with pytest.raises(TooManyRecords):
            ingest(engine, body, "gzip", ndjson=ndjson)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * len(plain)


def test_one_line_over_the_limit_is_refused(engine: Engine) -> None:
    with pytest.raises(TooManyRecords) as caught:
        ingest(engine, b"1\n" * (MAX_RECORDS + 1), "", ndjson=True)
    assert caught.value.limit == MAX_RECORDS


@pytest.mark.parametrize(("encoding", "compress"), [("gzip", gzip.compress), ("zstd", zstandard.compress)])
def test_a_body_that_inflates_a_thousandfold_within_the_limit_is_read_whole(
    engine: Engine, encoding: str, compress: Callable[[bytes], bytes]
) -> None:
    body = compress(b"[1" + b" " * (16 * MIB - 3) + b"]")
    verdicts = ingest(engine, body, encoding, ndjson=False)
    assert [rejected["index"] for rejected in verdicts.rejected] == [0]


@pytest.mark.parametrize("body", [b" [1,]", b"[1", b"{}", b"17", b"", b" ", b"[1]]", b"null", b'"[1]"'])
def test_what_is_no_array_is_not_called_too_long(engine: Engine, body: bytes) -> None:
    with pytest.raises(MalformedJson):
        ingest(engine, body, "", ndjson=False)


def post(client: FlaskClient, *records: Any, ndjson: bool = False) -> Any:
    lines = [json.dumps(record) for record in records]
    body, kind = ("\n".join(lines), "application/x-ndjson") if ndjson else (f"[{','.join(lines)}]", "application/json")
    answer = client.post("/v1/telemetry", data=body, content_type=kind)
    assert answer.status_code == 200, answer.text
    return answer.get_json()


@pytest.mark.parametrize("ndjson", [False, True])
def test_an_empty_batch_is_one(client: FlaskClient, ndjson: bool) -> None:
    assert post(client, ndjson=ndjson) == {"accepted": 0, "duplicate": 0, "set_aside": [], "rejected": []}


def test_the_largest_array_is_taken(client: FlaskClient, known_report: str) -> None:
    assert (
        post(client, *(make_attempt(model=f"m{number % 40}") for number in range(MAX_RECORDS)))["accepted"]
        == MAX_RECORDS
    )


def test_a_record_that_is_not_stored_is_not_acknowledged_by_its_repeat(client: FlaskClient, known_report: str) -> None:
    record = make_observation(report_id="0" * 64)
    verdicts = post(client, record, record, make_observation())
    assert verdicts["rejected"] == [{"index": index, "reason": "unknown-report"} for index in (0, 1)]
    assert (verdicts["accepted"], verdicts["duplicate"]) == (1, 0)


def test_a_repeat_is_compared_with_what_is_stored(client: FlaskClient, known_report: str) -> None:
    stored = make_observation((4150,))
    other = make_observation((4300,), record_id=stored["record_id"])
    post(client, stored)
    verdicts = post(client, other, stored)
    assert verdicts["rejected"] == [{"index": 0, "reason": "id-conflict"}]
    assert verdicts["duplicate"] == 1


def test_what_a_record_leaves_out_is_null_in_sql(client: FlaskClient, engine: Engine) -> None:
    report = make_report()
    client.put(f"/v1/reports/{report_id(report)}", data=report)
    post(client, make_attempt())
    with engine.connect() as connection:
        absent = text("SELECT count(*) FROM observation WHERE conditions IS NULL AND errors IS NULL")
        assert connection.execute(absent).scalar_one() == 1
