"""A whole site of real processes: PostgreSQL with its usual durability, gunicorn with two workers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
from builders import make_report
from sqlalchemy import Engine

from policies.report import report_id
from service.server import running_server
from service.settings import Settings
from service.store import schema
from service.store.embedded import embedded_postgresql
from service.store.engine import make_engine

WORKERS = 2


@dataclass(frozen=True)
class Site:
    """Where it serves, what it stores, and its processes."""

    url: str
    engine: Engine
    master: psutil.Process
    postmaster: psutil.Process

    def workers(self) -> list[psutil.Process]:
        """Gunicorn's workers as they are now."""
        return [child for child in self.master.children() if child.status() != psutil.STATUS_ZOMBIE]

    def backends(self) -> list[psutil.Process]:
        """PostgreSQL's processes that serve the service's connections."""
        return [
            child
            for child in self.postmaster.children()
            if " nnfleet" in _title(child) or "postgres postgres" in _title(child)
        ]

    def wait_for_workers(self) -> None:
        """Return once all workers are there again."""
        deadline = time.monotonic() + 60
        while len(self.workers()) < WORKERS:
            assert time.monotonic() < deadline
            time.sleep(0.02)


def _title(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return ""


@contextmanager
def site(folder: Path) -> Iterator[Site]:
    """A site with one known report, whose quota nobody reaches."""
    with embedded_postgresql(folder) as url:
        settings = Settings(url, log_level="critical", report_records_a_minute=0)
        engine = make_engine(settings)
        schema.upgrade(engine)
        before = {child.pid for child in psutil.Process().children()}
        with running_server(settings, workers=WORKERS, threads=8) as address:
            body = make_report()
            httpx.put(f"{address}/v1/reports/{report_id(body)}", content=body, timeout=30).raise_for_status()
            [master] = [
                child
                for child in psutil.Process().children()
                if child.pid not in before and "gunicorn" in _title(child)
            ]
            postmaster = psutil.Process(int((folder / "postmaster.pid").read_text().splitlines()[0]))
            try:
                yield Site(address, engine, master, postmaster)
            finally:
                engine.dispose()
