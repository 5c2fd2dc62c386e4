"""What changed between two fingerprints of one phone, as an update changes them, and what that voids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from policies.difference import Change, difference
from policies.fingerprint import Fingerprint
from policies.settings_of_arm import driver_facts, phone_facts
from policies.silicon import Presence
from policies.vocabulary import Delegate


@dataclass(frozen=True, slots=True)
class FingerprintChanges:
    """`lines` are facts that differ, drivers compared by name. Names of `drivers` are delegates, with the accelerator.

    `void` are drivers that are still there and for which nothing that was compiled before may be used any more.
    """

    lines: tuple[Change, ...]
    same_class: bool
    same_stack: bool
    new: tuple[str, ...]
    gone: tuple[str, ...]
    void: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "changes": [line.to_json() for line in self.lines],
            "same_class": self.same_class,
            "same_stack": self.same_stack,
            "new_drivers": list(self.new),
            "gone_drivers": list(self.gone),
            "void_caches": list(self.void),
        }


def fingerprint_changes(before: Fingerprint, after: Fingerprint) -> FingerprintChanges:
    """The changes from one fingerprint to the other; none at all where they are equal."""
    old, new = _drivers(before), _drivers(after)
    moved = phone_facts(before) != phone_facts(after)
    return FingerprintChanges(
        lines=tuple(difference(_facts(before), _facts(after))),
        same_class=before.device_class == after.device_class,
        same_stack=before.driver_stack == after.driver_stack,
        new=tuple(name for name in new if name not in old),
        gone=tuple(name for name in old if name not in new),
        void=tuple(name for name in old if name in new and (moved or old[name] != new[name])),
    )


_NOT_COMPARED: Final[dict[str, Any]] = {"device_class": True, "hints": True, "accelerators": {"__all__": {"reference"}}}
"""What follows from the other facts, and times that differ from one probing to the next."""


def _facts(one: Fingerprint) -> dict[str, Any]:
    facts = one.model_dump(mode="json", exclude=_NOT_COMPARED)
    return facts | {"anomalies": {anomaly.code: anomaly.detail for anomaly in one.anomalies}}


def _drivers(one: Fingerprint) -> Mapping[str, Sequence[str | int | None]]:
    """Driver → what it says of its build. A CPU compiles nothing that a driver could void."""
    drivers = {
        f"{Delegate.NNAPI}.{a.name}": driver_facts(Delegate.NNAPI, a, one) for a in one.accelerators if not a.is_cpu
    }
    if one.gpu is not None:
        drivers[Delegate.GPU.value] = driver_facts(Delegate.GPU, None, one)
    loaded = {r.delegate for r in one.runtimes if r.delegate is not None and r.presence is Presence.YES}
    return drivers | {delegate.value: driver_facts(delegate, None, one) for delegate in sorted(loaded)}
