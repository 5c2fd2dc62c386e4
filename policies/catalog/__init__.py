"""Names of accelerators, vendor runtimes and SoCs, as editable YAML; read once, looked up by any spelling."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Generic, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict

from policies.vocabulary import Delegate


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class AcceleratorEntry(_Entry):
    """What is publicly known of an NNAPI driver of that name. None: no public statement."""

    kind: str
    vendor: str | None = None
    aliases: tuple[str, ...] = ()
    int8: bool | None = None
    fp16: bool | None = None


class RuntimeEntry(_Entry):
    """A vendor runtime and the delegate that reaches it; None for the library that an app loads its models with."""

    delegate: Delegate | None = None
    vendor: str
    aliases: tuple[str, ...] = ()
    int8: bool | None = None
    fp16: bool | None = None


class NpuHint(_Entry):
    """What the silicon should have: a hint, never a measurement."""

    family: str
    version: int | None = None
    fp16: bool | None = None


class SocEntry(_Entry):
    """A system on chip. `year` of announcement; `tier` 0 entry, 1 middle, 2 flagship (our judgement)."""

    vendor: str
    names: tuple[str, ...] = ()
    year: int | None = None
    tier: int | None = None
    npu: NpuHint | None = None


E = TypeVar("E", bound=_Entry)


@dataclass(frozen=True)
class NameTable(Generic[E]):
    """Entries by canonical name, found by any alias. Spelling (case, blanks, dashes) does not matter."""

    entries: Mapping[str, E]
    canonical: Mapping[str, str]

    def find(self, raw: str | None) -> tuple[str, E] | None:
        """(canonical name, entry), or None where the name is new: a new name is never guessed."""
        name = self.canonical.get(spelling(raw)) if raw else None
        return (name, self.entries[name]) if name else None


def spelling(raw: str) -> str:
    """The letters and digits of a name, lower case: what is left when the typist's habits are gone."""
    return re.sub(r"[^a-z0-9+]", "", raw.lower())


def _table(entries: Mapping[str, E], aliases: Mapping[str, tuple[str, ...]]) -> NameTable[E]:
    canonical: dict[str, str] = {}
    for name in entries:
        for alias in (name, *aliases[name]):
            if canonical.setdefault(spelling(alias), name) != name:
                raise ValueError(f"{alias!r} is a name of {canonical[spelling(alias)]} and of {name}")
    return NameTable(entries, canonical)


def _yaml(name: str) -> Any:
    return yaml.safe_load((files("policies.catalog") / name).read_text("utf-8"))


@cache
def accelerators() -> NameTable[AcceleratorEntry]:
    """NNAPI driver names."""
    entries = {k: AcceleratorEntry.model_validate(v) for k, v in _yaml("accelerators.yaml")["accelerators"].items()}
    return _table(entries, {k: v.aliases for k, v in entries.items()})


@cache
def runtimes() -> NameTable[RuntimeEntry]:
    """Vendor runtime names."""
    entries = {k: RuntimeEntry.model_validate(v) for k, v in _yaml("accelerators.yaml")["runtimes"].items()}
    return _table(entries, {k: v.aliases for k, v in entries.items()})


@cache
def socs() -> NameTable[SocEntry]:
    """SoC names, by model number and by marketing name."""
    entries = {k: SocEntry.model_validate(v) for k, v in _yaml("socs.yaml")["socs"].items()}
    return _table(entries, {k: v.names for k, v in entries.items()})
