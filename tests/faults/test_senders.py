"""Senders that misbehave: repeats in any order, bombs, silence, clocks (R-D6)."""

from __future__ import annotations

import gzip
import json
import random
import socket
import threading
import time
from collections.abc import Callable
from datetime import UTC, date, datetime
from urllib.parse import urlsplit

import httpx
import pytest
import zstandard
from builders import MIB, make_observation, uuid7
from faults.phones import Ledger, compare
from faults.site import Site
from sqlalchemy import text

from service import clock
from service.intake.intake import Intake
from service.settings import Settings
from service.web.worker import SILENCE_S

pytestmark = pytest.mark.slow
BEGUN = [
    b"GET /healthz HT",
    b"POST /v1/telemetry HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n[",
    b"POST /console/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    b"Content-Length: 1000\r\n\r\nname=",
]
"""Requests as far as a client sends them that then falls silent: in the head, in a body, in a form."""


def test_batches_repeated_and_reordered_by_all_at_once_are_stored_once(
    running: Site, say: Callable[[str], None]
) -> None:
    records = [make_observation(arm=f"arm-{number % 20}") for number in range(600)]
    ledger = Ledger()

    def phone(seed: int) -> None:
        chance = random.Random(seed)
        mine = chance.sample(records, len(records))
        with httpx.Client(timeout=30) as http:
            while mine:
                batch, rest = mine[:100], mine[100:]
                answer = http.post(f"{running.url}/v1/telemetry", json=batch)
                if answer.status_code == 200:
                    ledger.note(batch, answer.json())
                    mine = rest
                else:
                    ledger.missed(answer.status_code)

    threads = [threading.Thread(target=phone, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    found = compare(running.engine, ledger)
    say(
        f"600 records from four phones in four orders, {dict(ledger.verdicts)}, refused {dict(ledger.refused)}: {found}"
    )
    assert ledger.verdicts == {"accepted": 600, "duplicate": 1_800}
    assert (found.acknowledged, found.missing, found.doubled, found.unacknowledged) == (600, 0, 0, 0)
    assert ledger.refused.keys() <= {429}


def test_bombs_cost_little_memory_and_hold_up_nobody(running: Site, say: Callable[[str], None]) -> None:
    plain = b" " * (200 * MIB)
    bombs = {"gzip": gzip.compress(plain, 9), "zstd": zstandard.compress(plain)}
    assert all(len(bomb) < MIB for bomb in bombs.values())
    before = {worker.pid: worker.memory_info().rss for worker in running.workers()}
    answers: list[tuple[int, str]] = []

    def throw(encoding: str) -> None:
        answer = httpx.post(
            f"{running.url}/v1/telemetry", content=bombs[encoding], headers={"Content-Encoding": encoding}, timeout=60
        )
        answers.append((answer.status_code, answer.json()["code"]))

    threads = [threading.Thread(target=throw, args=(encoding,)) for encoding in ("gzip", "zstd") * 6]
    for thread in threads:
        thread.start()
    assert httpx.post(f"{running.url}/v1/telemetry", json=[make_observation()], timeout=30).json()["accepted"] == 1
    for thread in threads:
        thread.join(60)
    grown = max(worker.memory_info().rss - before[worker.pid] for worker in running.workers())
    say(f"{len(answers)} bombs of 200 MiB refused; the workers grew by at most {grown / MIB:.0f} MiB")
    assert answers == [(413, "body-too-large")] * 12
    assert grown < 12 * 16 * MIB + 64 * MIB  # what all of them may inflate to at once, and slack for the allocator


def test_clients_that_stop_in_the_middle_are_given_up_and_the_next_are_served(
    running: Site, say: Callable[[str], None]
) -> None:
    address = urlsplit(running.url)
    silent = []
    for begun in BEGUN * 7:  # more than both workers have threads
        connection = socket.create_connection((address.hostname, address.port), timeout=60)
        connection.sendall(begun)
        silent.append(connection)
    started_s = time.monotonic()
    answer = httpx.post(f"{running.url}/v1/telemetry", json=[make_observation()], timeout=60)
    waited_s = time.monotonic() - started_s
    told = {connection.recv(64).split(b"\r\n")[0] for connection in silent}
    for connection in silent:
        connection.close()
    say(f"{len(silent)} silent clients; the next one was served after {waited_s:.1f} s")
    assert told == {b"HTTP/1.1 408 REQUEST TIMEOUT"}
    assert answer.json()["accepted"] == 1
    assert waited_s < 3 * SILENCE_S


def test_a_server_whose_clock_jumps_stores_each_record_once(running: Site, say: Callable[[str], None]) -> None:
    intake = Intake.of(running.engine, Settings("", report_records_a_minute=0))
    batch = json.dumps([make_observation(record_id=str(uuid7())) for _ in range(50)]).encode()
    jumps = [datetime(year, 1, 19, 3, 14, 8, tzinfo=UTC) for year in (2026, 1970, 2038, 2026, 2100)]
    verdicts = [intake.take(batch, "", jump, ndjson=False) for jump in jumps]
    assert [verdict.accepted for verdict in verdicts] == [50, 0, 0, 0, 0]
    assert [verdict.duplicate for verdict in verdicts] == [0, 50, 50, 50, 50]
    with running.engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM observation")).scalar_one() == 50
    say("50 records sent under five clocks from 1970 to 2100: stored once")


def test_phones_whose_clocks_jump_have_each_record_stored_once(running: Site, say: Callable[[str], None]) -> None:
    """Ids and times of days from 1970 to 2100, also within one batch; each sent again as the clock stands on another."""
    days = [
        date(1970, 1, 2),
        date(2019, 12, 31),
        clock.now().date(),
        date(2038, 1, 20),
        date(2099, 12, 31),
        date(2105, 1, 1),
    ]
    ledger = Ledger()
    records = [
        make_observation(record_id=str(uuid7(day)), device_time=f"{told}T12:00:00Z") for day in days for told in days
    ]
    with httpx.Client(timeout=30) as phone:
        for batch in (records, records[::-1], *(records[start::6] for start in range(6))):
            ledger.note(batch, phone.post(f"{running.url}/v1/telemetry", json=batch).raise_for_status().json())
    found = compare(running.engine, ledger)
    say(f"{len(records)} records of clocks from 1970 to 2105, sent three times, {dict(ledger.verdicts)}: {found}")
    assert ledger.verdicts == {"accepted": 36, "duplicate": 72}
    assert (found.acknowledged, found.missing, found.doubled, found.unacknowledged) == (36, 0, 0, 0)
