"""From a finding to what a quarantine of it would name: the narrowest cohort, and wider ones to hold against it."""

from __future__ import annotations

import json
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
    """Arms that a cohort would be denied; `model` as `app/name`, "" for all models. `when`: what the cohort cannot state."""

    name: str
    arms: str
    cohort: Cohort
    model: str
    when: str = ""

    @property
    def members(self) -> Members:
        """The device classes it touches, as far as its cohort tells."""
        return Members(self.cohort, drivers_of([self.arms]))


def suspects(told: Mapping[str, Any]) -> Iterator[Suspect]:
    """The narrowest cohort of a finding first, then wider ones, each once. `told` is its JSON."""
    narrow, of = told.get("quarantine") or {}, told.get("of", {})
    arms = told["arms"][0]
    named = arms.split(".", 2)
    narrowest = ".".join(narrow.get(part, named[at]) for at, part in enumerate(("precision", "format", "target")))
    every, model = f"*.*.{named[-1]}", of.get("model", "")
    seen: list[Suspect] = []
    for suspect in (
        _suspect("the narrowest that explains it", narrowest, told, narrow),
        _suspect("what the detector looked at", arms, told, of),
        Suspect("all precisions there", every, Cohort(socs=_socs(told)), model),
        Suspect("the same on every SoC", every, Cohort(), model),
    ):
        if not any(replace(suspect, name=other.name) == other for other in seen):
            seen.append(suspect)
            yield suspect


def _suspect(name: str, arms: str, told: Mapping[str, Any], stated: Mapping[str, str]) -> Suspect:
    """`stated`: attribute → value, as findings have them."""
    socs = _socs({**told, **stated})
    numbers = (int(stated["soc_id"]),) if "soc_id" in stated else ()
    cohort, model, version = Cohort(socs=socs, soc_ids=numbers), stated.get("model", ""), stated.get("version")
    driver = arms.partition(f".{Delegate.NNAPI}.")[2]
    if version is None:
        return Suspect(name, arms, cohort, model)
    if driver:
        of_driver = {"accelerators": (driver,), "driver_versions": (version,)}
        return Suspect(name, arms, cohort.model_copy(update=of_driver), model)
    loaded = sorted(drivers_of([arms]) or ())
    when = " || ".join(f"device.runtimes.{runtime}.version == {json.dumps(version)}" for runtime in loaded)
    return Suspect(name, arms, cohort, model, when)


def _socs(told: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(soc for soc in (told["soc"], *told.get("socs", ())) if soc not in NO_SOC)


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
