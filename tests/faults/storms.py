"""Faults, over and over, while phones send."""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
from faults.phones import Phones
from faults.site import Site

BETWEEN = 300
"""Records that are acknowledged between two faults: enough for all phones to be in the middle of something."""


@contextmanager
def sending(site: Site, seed: int = 0) -> Iterator[Phones]:
    """Phones that send while the block runs, and are answered before it and after it."""
    with Phones(site.url, seed=seed) as phones:
        phones.wait_for(BETWEEN)
        yield phones
        site.wait_for_workers()
        phones.wait_for(BETWEEN)


def kill_workers(site: Site, phones: Phones, kills: int, chance: random.Random) -> int:
    """kill -9 of one of gunicorn's workers, so many times; returns how many died."""
    killed = 0
    for _ in range(kills):
        site.wait_for_workers()
        killed += _kill(chance.choice(site.workers()))
        phones.wait_for(BETWEEN)
    return killed


def kill_backends(site: Site, phones: Phones, kills: int, chance: random.Random) -> int:
    """kill -9 of one of PostgreSQL's processes: all of it goes down, and recovers from its log."""
    killed = 0
    for _ in range(kills):
        killed += _kill(chance.choice(site.backends()))
        phones.wait_for(BETWEEN)
    return killed


def _kill(process: psutil.Process) -> bool:
    try:
        process.send_signal(signal.SIGKILL)
    except psutil.NoSuchProcess:
        return False
    return True
