"""Names: any spelling finds its entry, a new name finds none, and no name means two things (R-A4)."""

from __future__ import annotations

from typing import Any

import pytest

from policies import catalog
from policies.canonical import canonical_accelerator, canonical_soc
from policies.catalog import SocEntry

TABLES: dict[str, Any] = {
    "accelerators": catalog.accelerators(),
    "runtimes": catalog.runtimes(),
    "socs": catalog.socs(),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES.keys())
def test_every_name_finds_its_own_entry_however_it_is_typed(table: Any) -> None:
    for name, entry in table.entries.items():
        for alias in (name, *getattr(entry, "aliases", ()), *getattr(entry, "names", ())):
            for typed in (alias, alias.upper(), alias.replace("-", "_"), f" {alias} "):
                assert table.find(typed) == (name, entry)


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES.keys())
@pytest.mark.parametrize("raw", [None, "", "nobody's driver", "googl", "mtk"])
def test_a_new_name_is_never_guessed(table: Any, raw: str | None) -> None:
    assert table.find(raw) is None


def test_a_plus_tells_two_chips_apart() -> None:
    assert catalog.spelling("Dimensity 9200+") != catalog.spelling("Dimensity 9200")


def test_a_name_of_two_entries_is_refused() -> None:
    entries = {"one": SocEntry(vendor="x"), "two": SocEntry(vendor="x")}
    with pytest.raises(ValueError, match="name of one and of two"):
        catalog._table(entries, {"one": ("Same",), "two": ("same",)})


def test_every_kind_of_driver_is_one_that_the_rules_know() -> None:
    kinds = {entry.kind for entry in catalog.accelerators().entries.values()}
    assert kinds <= {"npu", "dsp", "gpu", "cpu", "front", "sample"}


def test_hints_are_of_plausible_years_and_tiers() -> None:
    for name, entry in catalog.socs().entries.items():
        assert entry.year is None or 2012 <= entry.year <= 2026, name
        assert entry.tier in {None, 0, 1, 2}, name


def test_names_that_are_new_keep_the_letters_that_arm_ids_are_made_of() -> None:
    assert canonical_accelerator("My Driver/2") == "my-driver-2"
    assert canonical_accelerator("驱动").startswith("driver-")
    assert canonical_accelerator("驱动") != canonical_accelerator("動")
    assert canonical_soc("Nova 9+") == "nova-9+"
