"""How soon a publish reaches every worker under load: `make bench`, or `python -m tests.bench.publishing`.

Phones ask over kept connections that the kernel has spread over all workers. After each publish the last answer that still
told the old release says how late its worker was.
"""

from __future__ import annotations

import argparse
import re
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import httpx

from service.server import running_processes
from tests.bench.goals import at_most
from tests.bench.stage import APP, THREADS, WORKERS, furnish, installation, machine, publish, reports

PHONES: Final = 8
PAUSE_S: Final = 1.0
"""Between two publishes: longer than any worker should need, so that each is seen to its end."""
GOAL_S: Final = 0.25
_RELEASE: Final = re.compile(rb'"release":(\d+)')


class Watch:
    """For each release, when it was last seen in an answer, by the clock of this machine."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self.last_seen_s: dict[int, float] = {}
        self.answers = 0

    def saw(self, body: bytes, asked_s: float) -> None:
        """An answer to a question of that time. The time of asking counts: the answer was chosen after it."""
        found = _RELEASE.search(body)
        if found is None:
            raise ValueError("a decision tells no release")
        with self._changing:
            number = int(found[1])
            self.last_seen_s[number] = max(asked_s, self.last_seen_s.get(number, 0.0))
            self.answers += 1


@contextmanager
def asking(url: str, report_id: str) -> Iterator[Watch]:
    """Phones that ask without a pause while the block runs."""
    watch, stop = Watch(), threading.Event()

    def work() -> None:
        with httpx.Client(base_url=url, timeout=30) as phone:
            while not stop.is_set():
                asked_s = time.monotonic()
                watch.saw(phone.get(f"/v1/decisions/{APP}/{report_id}").raise_for_status().content, asked_s)

    threads = [threading.Thread(target=work) for _ in range(PHONES)]
    for thread in threads:
        thread.start()
    try:
        yield watch
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def delays_s(url: str, report_id: str, publishes: int) -> tuple[list[float], int]:
    """(seconds from each publish's answer until no worker told the old release any more, answers seen)."""
    found = []
    with asking(url, report_id) as watch:
        for number in range(2, publishes + 2):
            publish(url)
            published_s = time.monotonic()
            time.sleep(PAUSE_S)
            found.append(max(0.0, watch.last_seen_s.get(number - 1, 0.0) - published_s))
    return found, watch.answers


def measure(say: Callable[[str], None], publishes: int) -> None:
    """Run the benchmark and `say` its figures."""
    bodies = reports(1)
    with ExitStack() as stack:
        temporary = tempfile.TemporaryDirectory(prefix="nnfleet-bench-", ignore_cleanup_errors=True)
        settings = stack.enter_context(installation(Path(stack.enter_context(temporary))))
        running = stack.enter_context(running_processes(settings, workers=WORKERS, threads=THREADS))
        furnish(running.url, list(bodies.values()))
        found, answers = delays_s(running.url, next(iter(bodies)), publishes)
    p99_s = statistics.quantiles(found, n=100, method="inclusive")[98]
    say(f"{publishes} publishes under load, {answers:,} answers meanwhile")
    say(
        f"until every worker has a release: p50 {statistics.median(found) * 1e3:.0f} ms, p99 {p99_s * 1e3:.0f} ms, "
        f"longest {max(found) * 1e3:.0f} ms (p99: {at_most(p99_s * 1e3, GOAL_S * 1e3, 'ms')})"
    )


def main() -> None:
    """The command line. A missed goal is printed, not an error: a shared machine is no judge."""
    parser = argparse.ArgumentParser(description="How soon a publish reaches every worker.")
    parser.add_argument("--publishes", type=int, default=100, help="how many")
    options = parser.parse_args()
    print(f"gunicorn, {WORKERS} workers × {THREADS} threads; {machine()}")
    measure(print, options.publishes)


if __name__ == "__main__":
    main()
