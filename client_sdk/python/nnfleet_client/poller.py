"""Background refresh, for apps that want it: one loop for any number of clients, on a thread the app brings.

stop = threading.Event()
threading.Thread(target=Poller([client], clock, stop.wait).run, daemon=True).start()
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from nnfleet_client.client import FleetClient
from nnfleet_client.clock import Clock

LEAST_PAUSE_S: Final = 1.0


class Poller:
    """Refreshes and flushes clients when each is due.

    `wait(seconds)` sleeps and returns True when it is time to stop, as `threading.Event.wait` does.
    """

    def __init__(self, clients: Sequence[FleetClient], clock: Clock, wait: Callable[[float], bool]) -> None:
        self._clients = clients
        self._clock = clock
        self._wait = wait
        self._flush_at_s = [clock.monotonic_s() + client.flush_s for client in clients]

    def run(self) -> None:
        """Loop until `wait` says stop; the first round comes at once."""
        while not self._wait(self.round()):
            pass

    def round(self) -> float:
        """Serve every client that is due; the seconds until the next one is."""
        pauses_s = [self._serve(place, client) for place, client in enumerate(self._clients)]
        return max(LEAST_PAUSE_S, min(pauses_s, default=LEAST_PAUSE_S))

    def _serve(self, place: int, client: FleetClient) -> float:
        refreshed = client.refresh()
        now_s = self._clock.monotonic_s()
        if now_s >= self._flush_at_s[place]:
            flushed = client.flush()
            self._flush_at_s[place] = now_s + (flushed.wait_s or client.flush_s)
        return min(refreshed.wait_s, self._flush_at_s[place] - now_s)
