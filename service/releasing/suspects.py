"""From a finding to what a quarantine of it would name: the narrowest cohort, and wider ones to hold against it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
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
    soc: str
    model: str

    @property
    def members(self) -> Members:
        """The device classes it touches."""
        socs = (self.soc,) if self.soc else ()
        return Members(Cohort(socs=socs), drivers_of([self.arms]))


def suspects(told: Mapping[str, Any]) -> Iterator[Suspect]:
    """The narrowest cohort of a finding first, then wider ones, each once. `told` is its JSON."""
    narrow = told.get("quarantine") or {}
    soc, narrow_soc = ("" if name in NO_SOC else name for name in (told["soc"], narrow.get("soc", told["soc"])))
    arms = told["arms"][0]
    named = arms.split(".", 2)
    narrowest = f"{narrow.get('precision', named[0])}.*.{narrow.get('target', named[-1])}"
    every = f"*.*.{named[-1]}"
    seen: set[tuple[str, str, str]] = set()
    for name, *key in (
        ("the narrowest that explains it", narrowest, narrow_soc, narrow.get("model", "")),
        ("what the detector looked at", arms, soc, ""),
        ("all precisions on this SoC", every, soc, ""),
        ("the driver on every SoC", every, "", ""),
    ):
        if tuple(key) not in seen:
            seen.add((key[0], key[1], key[2]))
            yield Suspect(name, *key)


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
