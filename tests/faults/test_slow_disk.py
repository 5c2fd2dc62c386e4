"""A disk that hangs at every flush: nothing is acknowledged before it is on it, and nobody else waits for it (R-D6)."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from builders import make_observation, make_report
from faults.phones import Ledger, Phones, compare
from faults.slow_disk import SlowDisk

from policies.report import report_id
from service.server import running_server
from service.settings import Settings
from service.store import schema
from service.store.embedded import embedded_postgresql
from service.store.engine import make_engine

pytestmark = pytest.mark.slow
DELAY_MS = 400
PHONES, THREADS, POOL = 6, 8, 4
"""More phones than batches are stored at once: a worker keeps two of its connections for others."""


def test_on_a_slow_disk_an_answer_waits_for_the_flush_and_the_crowd_is_told_to_come_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, say: Callable[[str], None]
) -> None:
    disk, body = SlowDisk(tmp_path, DELAY_MS), make_report()
    with ExitStack() as stack:
        with monkeypatch.context() as loading:
            loading.setenv("LD_PRELOAD", str(disk.library))
            address = stack.enter_context(embedded_postgresql(tmp_path / "postgresql"))
        settings = Settings(address, log_level="critical", report_records_a_minute=0, pool_size=POOL)
        engine = make_engine(settings)
        stack.callback(engine.dispose)
        schema.upgrade(engine)
        url = stack.enter_context(running_server(settings, workers=1, threads=THREADS))
        httpx.put(f"{url}/v1/reports/{report_id(body)}", content=body, timeout=30).raise_for_status()
        with Phones(url, PHONES) as phones:
            phones.wait_for(300)
            disk.slow_down()
            phones.wait_for_refusal()
            waited_s = acknowledged_after_s(url, phones.ledger)
            ready = httpx.get(f"{url}/readyz", timeout=10).status_code
            disk.recover()
            phones.wait_for(300)
        found = compare(engine, phones.ledger)
    say(
        f"every flush {DELAY_MS} ms slower: a batch was acknowledged after {waited_s:.1f} s, "
        f"refused {dict(phones.ledger.refused)}: {found}"
    )
    assert (waited_s >= DELAY_MS / 1e3, ready) == (True, 200)
    assert phones.ledger.refused.keys() == {429}
    assert (found.missing, found.doubled) == (0, 0)


def acknowledged_after_s(url: str, ledger: Ledger) -> float:
    """How long a batch waits for its answer, from the attempt on that is taken."""
    batch = [make_observation()]
    while True:
        started_s = time.monotonic()
        answer = httpx.post(f"{url}/v1/telemetry", json=batch, timeout=30)
        if answer.status_code == 200:
            ledger.note(batch, answer.json())
            return time.monotonic() - started_s
