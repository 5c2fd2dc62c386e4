"""From a finding to what a quarantine of it would name: the narrowest cohort, and wider ones to hold against it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from policies import catalog
from policies.rules.deny import Cohort
from policies.vocabulary import VENDOR_DELEGATES, Delegate
from service.store.class_cohorts import Members

NO_SOC: Final = frozenset({"unknown", "*"})
"""What learning runs call the SoC of classes that tell none, and of findings that concern all: a cohort names neither."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """Arms that a cohort would be denied; `model` as `app/name`, "" for all models."""

    name: str
    arms: str
    cohort: Cohort
    model: str

    @property
    def members(self) -> Members:
        """The device classes it touches."""
        return Members(self.cohort, drivers_of([self.arms]))


def suspects(told: Mapping[str, Any]) -> Iterator[Suspect]:
    """The narrowest cohort of a finding first, then wider ones, each once. `told` is its JSON."""
    narrow = told.get("quarantine") or {}
    arms, of = told["arms"][0], told.get("of", {})
    named = arms.split(".", 2)
    narrowest = ".".join(narrow.get(part, named[at]) for at, part in enumerate(("precision", "format", "target")))
    looked_at, model = _cohort(told), narrow.get("model", "")
    seen: list[Suspect] = []
    for suspect in (
        Suspect("the narrowest that explains it", narrowest, _cohort({**told, **narrow}), model),
        Suspect("what the detector looked at", arms, looked_at, of.get("model", "")),
        Suspect("all precisions there", f"*.*.{named[-1]}", looked_at, of.get("model", "")),
        Suspect("the same on every SoC", f"*.*.{named[-1]}", Cohort(), of.get("model", "")),
    ):
        if not any(replace(suspect, name=other.name) == other for other in seen):
            seen.append(suspect)
            yield suspect


def _cohort(told: Mapping[str, Any]) -> Cohort:
    named = (told["soc"], *told.get("socs", ()))
    return Cohort(socs=tuple(soc for soc in named if soc not in NO_SOC))


def drivers_of(arms: Iterable[str]) -> frozenset[str] | None:
    """Names of which a class must have one to run any of these arms (ids or globs); None where none is needed."""
    needed: set[str] = set()
    for arm in arms:
        # From its end: what stands before may be one star for several parts.
        _, by_nnapi, accelerator = arm.partition(f"{Delegate.NNAPI}.")
        delegate = arm.rpartition(".")[2]
        if by_nnapi and accelerator and not _is_glob(accelerator):
            needed.add(accelerator)
        elif not by_nnapi and delegate in VENDOR_DELEGATES:
            needed.update(name for name, entry in catalog.runtimes().entries.items() if entry.delegate == delegate)
        else:
            return None
    return frozenset(needed)


def _is_glob(name: str) -> bool:
    return any(letter in name for letter in "*?[")
