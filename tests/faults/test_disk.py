"""A disk that is full: batches are refused whole, and taken when there is room again (R-D6).

Once with a real small disk, where something may be mounted: there the write-ahead log finds no room either, and
PostgreSQL goes down. Once everywhere: PostgreSQL is started with a bound on the size of its files, which stops a table from
growing as a full disk does, and started again without it. Its log, in files of 16 MiB, stays below the bound.
"""

from __future__ import annotations

import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest
from builders import MIB, make_report
from faults.phones import Phones, compare
from faults.small_disk import fill_up_to, small_disk
from sqlalchemy import text

from policies.report import report_id
from service.server import running_server
from service.settings import Settings
from service.store import schema
from service.store.embedded import embedded_postgresql
from service.store.engine import make_engine

pytestmark = pytest.mark.slow
DISK_MIB, LEFT_MIB = 200, 3
MOST_BYTES = 17 * MIB
NEARLY_FULL = """
    INSERT INTO observation (record_id, day, payload_sha256, received_at, report_id, device_class, app, release, model, arm, kind)
    SELECT gen_random_uuid(), (now() AT TIME ZONE 'UTC')::date, decode(repeat('00', 1500), 'hex'), now(),
           'r', 'c', 'camera', 0, 'm', 'a', 'window'
    FROM generate_series(1, 10000)
"""
"""Some 16 MiB in the day's partition: what phones send in a few seconds reaches the bound."""


@contextmanager
def files_up_to(most_bytes: int) -> Iterator[None]:
    """Processes that are started in the block cannot write larger files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_without_a_byte_left_loses_nothing_that_was_acknowledged(
    tmp_path: Path, say: Callable[[str], None]
) -> None:
    body = make_report()
    with small_disk(tmp_path, DISK_MIB), ExitStack() as storing, ExitStack() as serving:
        settings = Settings(
            storing.enter_context(embedded_postgresql(tmp_path / "postgresql")),
            log_level="critical",
            least_free_bytes=0,
        )
        engine = make_engine(settings)
        serving.callback(engine.dispose)
        schema.upgrade(engine)
        url = serving.enter_context(running_server(settings, workers=1, threads=4))
        httpx.put(f"{url}/v1/reports/{report_id(body)}", content=body, timeout=30).raise_for_status()
        ballast = fill_up_to(tmp_path, LEFT_MIB)
        with Phones(url) as phones:
            phones.wait_for_refusal()
            refused, left = dict(phones.ledger.refused), shutil.disk_usage(tmp_path).free
            ballast.unlink()
            engine.dispose()
            storing.close()
            storing.enter_context(embedded_postgresql(tmp_path / "postgresql"))
            phones.wait_for(300)
        found = compare(engine, phones.ledger)
    say(f"a disk of {DISK_MIB} MiB with {left // 1024:,} KiB left: first refused {refused}: {found}")
    assert refused.keys() <= {500, 503}
    assert (found.missing, found.doubled) == (0, 0)


def test_a_full_disk_refuses_batches_and_loses_none(tmp_path: Path, say: Callable[[str], None]) -> None:
    body = make_report()
    with ExitStack() as storing, ExitStack() as serving:
        with files_up_to(MOST_BYTES):
            settings = Settings(storing.enter_context(embedded_postgresql(tmp_path)), log_level="critical")
        engine = make_engine(settings)
        serving.callback(engine.dispose)
        schema.upgrade(engine)
        with engine.begin() as connection:
            connection.execute(text(NEARLY_FULL))
        url = serving.enter_context(running_server(settings, workers=1, threads=4))
        httpx.put(f"{url}/v1/reports/{report_id(body)}", content=body, timeout=30).raise_for_status()
        with Phones(url) as phones:
            phones.wait_for_refusal()
            refused = dict(phones.ledger.refused)
            engine.dispose()
            storing.close()
            storing.enter_context(embedded_postgresql(tmp_path))
            phones.wait_for(300)
        found = compare(engine, phones.ledger)
    say(f"disk full: first refused {refused}: {found}")
    assert refused.keys() <= {500, 503}
    assert (found.missing, found.doubled) == (0, 0)
