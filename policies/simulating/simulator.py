"""A change on one phone after another. What decides the same is decided once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from policies.fingerprint import Fingerprint
from policies.simulating.basis import Proposed
from policies.simulating.compare import Comparison, comparisons
from policies.simulating.concern import Concern
from policies.simulating.reads import Reads


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a change does to phones of one kind, and the facts that shares are told by."""

    device_class: str
    soc: str | None
    soc_vendor: str | None
    api_level: int
    comparisons: tuple[Comparison, ...]


class Simulator:
    """The apps that a change concerns. Keeps one answer for each combination of the facts that decide, never a phone."""

    def __init__(self, changes: Iterable[Proposed]) -> None:
        self._apps = [_App(proposed) for proposed in changes]

    @property
    def decided(self) -> int:
        """How many combinations of facts were decided so far, counted by app; each was decided twice."""
        return sum(len(app.known) for app in self._apps)

    @property
    def reads_builds(self) -> bool:
        """Whether phones of one class may differ by their firmware's build."""
        return any(app.reads.builds for app in self._apps)

    def outlook(self, facts: Fingerprint) -> Outlook:
        """What the change does to this phone."""
        found = tuple(one for app in self._apps for one in app.comparisons(facts))
        return Outlook(facts.device_class, facts.soc, facts.soc_vendor, facts.api_level, found)


class _App:
    def __init__(self, proposed: Proposed) -> None:
        self.known: dict[Hashable, tuple[Comparison, ...]] = {}
        self._proposed = proposed
        self._concern = Concern(proposed)
        self.reads = Reads(proposed)

    def comparisons(self, facts: Fingerprint) -> tuple[Comparison, ...]:
        if not self._concern.of(facts):
            return ()
        key = self.reads.key(facts)
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = comparisons(self._proposed, facts)
        return found
