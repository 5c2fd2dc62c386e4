"""Background refresh, for apps that want it: one loop for any number of clients, on a thread the app brings.

stop = threading.Event()
threading.Thread(target=Poller([client], clock, stop.wait).run, daemon=True).start()
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from nnfleet_client.client import FleetClient
from nnfleet_client.clock import Clock

LEAST_PAUSE_S: Final = 900.0
"""A radio that is woken stays on for many seconds: a minute's max-age is for caches, a quarter of an hour for batteries."""
SHORTEST_NAP_S: Final = 1.0


class Poller:
    """Refreshes and flushes clients when each is due, at least `least_pause_s` after the round before.

    What would be due before the next round is done in this one, so that the network is used once for both. `wait(seconds)`
    sleeps and returns True when it is time to stop, as `threading.Event.wait` does.
    """

    def __init__(
        self,
        clients: Sequence[FleetClient],
        clock: Clock,
        wait: Callable[[float], bool],
        least_pause_s: float = LEAST_PAUSE_S,
    ) -> None:
        self._clients = clients
        self._clock = clock
        self._wait = wait
        self._least_pause_s = max(SHORTEST_NAP_S, least_pause_s)
        self._flush_at_s = [clock.monotonic_s() + client.flush_s for client in clients]

    def run(self) -> None:
        """Loop until `wait` says stop; the first round comes at once."""
        while not self._wait(self.round()):
            pass

    def round(self) -> float:
        """Serve every client that is due; the seconds until the next one is."""
        pauses_s = [self._serve(place, client) for place, client in enumerate(self._clients)]
        return max(self._least_pause_s, min(pauses_s, default=self._least_pause_s))

    def _serve(self, place: int, client: FleetClient) -> float:
        refreshed = client.refresh()
        now_s = self._clock.monotonic_s()
        if self._flush_at_s[place] < now_s + self._least_pause_s:
            flushed = client.flush()
            self._flush_at_s[place] = now_s + (flushed.wait_s or client.flush_s)
        return min(refreshed.wait_s, self._flush_at_s[place] - now_s)
