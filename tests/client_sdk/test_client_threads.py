"""Several threads of an app on one client: every use is told of once, and none is taken for a crash (R-D6)."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sdk_builders import FakeRunner, FakeServer, ManualClock, make_client

from nnfleet_client import Settings

USES = 40
THREADS = 4


def test_uses_refreshes_and_flushes_at_once_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    server, clock = FakeServer(), ManualClock()
    client = make_client(server, clock, settings=Settings(folder=tmp_path))
    client.refresh()

    def use_and_send(_: int) -> None:
        for number in range(USES):
            client.use("segmentation", FakeRunner(), 2)
            if number % 10 == 0:
                client.refresh(force=True)
                client.flush()

    with ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(use_and_send, range(THREADS)))
    client.flush()
    assert Counter(record["kind"] for record in server.records.values()) == {"window": USES * THREADS}
    assert (client.waiting, client.dropped) == (0, {})
    client.close()
    again = make_client(server, clock, seed=2, settings=Settings(folder=tmp_path))
    assert again.waiting == 0
    assert (tmp_path / "suspects.json").read_text() == "{}"
