"""Phones that send until they are answered, and remember exactly what they were told."""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

import httpx
from builders import make_observation
from sqlalchemy import Engine, text

BATCH: Final = 50
PATIENCE_S: Final = 60.0


@dataclass
class Ledger:
    """What all phones were told. `cut_off`: requests that got no answer at all; `refused`: answers that said no, by status."""

    acknowledged: set[UUID] = field(default_factory=set)
    verdicts: Counter[str] = field(default_factory=Counter)
    cut_off: int = 0
    refused: Counter[int] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, batch: Sequence[dict[str, Any]], answer: dict[str, Any]) -> None:
        """A batch that was answered with 200."""
        assert answer["rejected"] == [] == answer["set_aside"], answer
        assert answer["accepted"] + answer["duplicate"] == len(batch)
        with self.lock:
            self.acknowledged |= {UUID(record["record_id"]) for record in batch}
            self.verdicts.update(accepted=answer["accepted"], duplicate=answer["duplicate"])

    def missed(self, status: int | None) -> None:
        """A request without the answer that was hoped for; None for no answer."""
        with self.lock:
            if status is None:
                self.cut_off += 1
            else:
                self.refused[status] += 1


@dataclass(frozen=True)
class Stored:
    """What the database has, beside what phones were told."""

    acknowledged: int
    missing: int
    doubled: int
    unacknowledged: int

    def __str__(self) -> str:
        return (
            f"{self.acknowledged:,} acknowledged, {self.missing} of them missing, {self.doubled} doubled, "
            f"{self.unacknowledged:,} stored without an answer that arrived"
        )


def compare(engine: Engine, ledger: Ledger) -> Stored:
    """Count what is stored against what was acknowledged."""
    with engine.connect() as connection:
        rows = connection.execute(text("SELECT record_id, count(*) FROM observation GROUP BY 1")).all()
    stored: dict[UUID, int] = {row[0]: row[1] for row in rows}
    return Stored(
        len(ledger.acknowledged),
        len(ledger.acknowledged - stored.keys()),
        sum(number > 1 for number in stored.values()),
        len(stored.keys() - ledger.acknowledged),
    )


class Phones:
    """So many phones, each sending new batches, and now and then old records again in other batches."""

    def __init__(self, url: str, phones: int = 4, seed: int = 0) -> None:
        self.ledger = Ledger()
        self._url = url
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._live, args=(random.Random(seed + n),)) for n in range(phones)]
        self._faults: list[Exception] = []

    def __enter__(self) -> Phones:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(PATIENCE_S + 10)
        if self._faults:
            raise self._faults[0]

    @property
    def answered(self) -> int:
        """Records that were acknowledged so far, repeats counted."""
        return self.ledger.verdicts.total()

    def wait_for(self, records: int) -> None:
        """Return once so many more records were acknowledged; AssertionError after a minute."""
        goal, deadline = self.answered + records, time.monotonic() + PATIENCE_S
        while self.answered < goal:
            assert time.monotonic() < deadline, f"no progress: {self.ledger.refused}, {self.ledger.cut_off} cut off"
            time.sleep(0.01)

    def wait_for_refusal(self) -> None:
        """Return once a batch was refused; AssertionError after a minute."""
        deadline = time.monotonic() + PATIENCE_S
        while not self.ledger.refused.total():
            assert time.monotonic() < deadline, f"nothing was refused, {self.answered} records were acknowledged"
            time.sleep(0.01)

    def _live(self, chance: random.Random) -> None:
        sent: list[dict[str, Any]] = []
        try:
            with httpx.Client(timeout=20) as http:
                while not self._stop.is_set():
                    batch = [make_observation(arm=f"arm-{chance.randrange(20)}") for _ in range(BATCH)]
                    batch += chance.sample(sent, min(len(sent), chance.choice((0, 0, 5))))
                    chance.shuffle(batch)
                    self._until_answered(http, batch)
                    sent = [*sent, *batch[:10]][-200:]
        except Exception as error:
            self._faults.append(error)

    def _until_answered(self, http: httpx.Client, batch: list[dict[str, Any]]) -> None:
        body, deadline = json.dumps(batch).encode(), time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            try:
                answer = http.post(f"{self._url}/v1/telemetry", content=body)
            except httpx.TransportError:
                self.ledger.missed(None)
            else:
                if answer.status_code == 200:
                    self.ledger.note(batch, answer.json())
                    return
                self.ledger.missed(answer.status_code)
            time.sleep(0.05)
        raise AssertionError(f"a batch was not answered within {PATIENCE_S} s")
