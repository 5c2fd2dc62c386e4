"""Publishing while phones ask: every answer is wholly of one release, and numbers never run backwards for anybody (R-F2)."""

from __future__ import annotations

import http.client
import json
import threading
from urllib.parse import urlsplit

import pytest
from operating import Operator
from sqlalchemy import Engine

from service import clock
from service.releasing.publishing import publish
from service.server import running_server
from service.settings import Settings

RELEASES = 12
PHONES = 4


class Phone(threading.Thread):
    """Asks again and again on one connection; keeps what does not add up."""

    def __init__(self, server: str, report_id: str, ended: threading.Event) -> None:
        super().__init__(daemon=True)
        self._address = urlsplit(server)
        self._path = f"/v1/decisions/camera/{report_id}"
        self._ended = ended
        self.answers = 0
        self.seen: set[int] = set()
        self.wrong: list[str] = []

    def run(self) -> None:
        connection = http.client.HTTPConnection(self._address.hostname or "", self._address.port, timeout=30)
        while not self._ended.is_set():
            connection.request("GET", self._path)
            answer = connection.getresponse()
            body = answer.read()
            self._look(answer.status, body)
        connection.close()

    def _look(self, status: int, body: bytes) -> None:
        self.answers += 1
        document = json.loads(body)
        if status != 200:
            self.wrong.append(f"{status}: {document}")
            return
        release, target = document["release"], document["models"]["segmentation"]["latency_target_ms"]
        self.seen.add(release)
        # The release is in its own content: a mix of two would show.
        if target != 10.0 + release:
            self.wrong.append(f"release {release} with a target of {target}")


@pytest.mark.slow
def test_every_answer_under_load_is_of_one_release(
    engine: Engine, settings: Settings, operator: Operator, known_report: str
) -> None:
    operator.publish(latency_target_ms=11.0)
    ended = threading.Event()
    with running_server(settings) as server:
        phones = [Phone(server, known_report, ended) for _ in range(PHONES)]
        for phone in phones:
            phone.start()
        _until_seen(phones, 1)
        for number in range(2, RELEASES + 1):
            operator.publish(f"release {number}", latency_target_ms=10.0 + number)
            _until_seen(phones, number)
        ended.set()
        for phone in phones:
            phone.join(timeout=30)
    assert [phone.wrong for phone in phones] == [[] for _ in phones]
    assert set.union(*(phone.seen for phone in phones)) == set(range(1, RELEASES + 1))
    assert publish(engine, "one more", clock.now()) == RELEASES + 1


def _until_seen(phones: list[Phone], number: int) -> None:
    """A release reaches the workers by itself; all that this test needs is that some phone meets each."""
    waited = threading.Event()
    for _ in range(3_000):
        if any(number in phone.seen for phone in phones) or not any(phone.is_alive() for phone in phones):
            return
        waited.wait(0.02)
    raise AssertionError(f"nobody was given release {number}")
