"""Device classes: one SoC, one product, one Android version. All phones of a class send the same report."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from ml.fleet.assumptions import ANDROID_SHARE
from ml.fleet.editions import USUAL, Edition, editions
from ml.fleet.models import canonical_soc
from ml.fleet.socs import Product, Soc, market_weight, modelled_socs


@dataclass(frozen=True)
class Chipset:
    """An AI Hub chipset as an Android device carries it: `chipsets.csv`.

    Boards and cars that AI Hub ran under Linux or Windows are taken for Android devices. Weights, Android versions and
    products beyond those that AI Hub names are assumed.
    """

    key: str
    soc_model: str
    weight: float
    apis: tuple[int, ...]
    renderer: str
    cores: int
    ram_mb: int
    features: tuple[str, ...]
    products: tuple[Product, ...]


@dataclass(frozen=True)
class DeviceClass:
    """A class with its unnormalised share of the fleet. Exactly one of `soc` and `chipset` is set."""

    product: Product
    api: int
    weight: float
    soc: Soc | None = None
    chipset: Chipset | None = None
    edition: Edition = USUAL

    @property
    def kind(self) -> Literal["measured", "modelled"]:
        """Where its truth comes from."""
        return "modelled" if self.soc else "measured"

    @property
    def soc_name(self) -> str:
        """Canonical name."""
        return self.soc.name if self.soc else canonical_soc(self.chipset_key)

    @property
    def chipset_key(self) -> str:
        """AI Hub's key, or the SoC's canonical name."""
        return self.chipset.key if self.chipset else self.soc_name

    @property
    def key(self) -> str:
        """A readable name."""
        return f"{self.chipset_key}/{self.product.product}/{self.api}{self.edition.suffix}"


@cache
def chipsets() -> tuple[Chipset, ...]:
    """All 17 AI Hub chipsets that have rows of their own."""
    text = (files("ml.fleet") / "chipsets.csv").read_text("utf-8")
    return tuple(
        Chipset(
            key=row["chipset"],
            soc_model=row["soc_model"],
            weight=float(row["weight"]),
            apis=tuple(int(api) for api in row["apis"].split()),
            renderer=row["gpu"],
            cores=int(row["cores"]),
            ram_mb=int(row["ram_mb"]),
            features=tuple(row["features"].split()),
            products=tuple(Product(*phone.split("|")) for phone in row["phones"].split(";")),
        )
        for row in csv.DictReader(text.splitlines())
    )


def measured_classes(usable: Iterable[Chipset]) -> list[DeviceClass]:
    """Classes of the given chipsets; a chipset's weight is split evenly over its products and Android versions."""
    return [
        DeviceClass(product, api, chipset.weight / (len(chipset.products) * len(chipset.apis)), chipset=chipset)
        for chipset in usable
        for product in chipset.products
        for api in chipset.apis
    ]


def modelled_classes() -> list[DeviceClass]:
    """Classes of the modelled SoCs: shares of Android versions as on the market, SoCs by rank within each version."""
    return list(_modelled())


def _modelled() -> Iterator[DeviceClass]:
    ranked = list(enumerate(modelled_socs(), start=1))
    for api, api_share in ANDROID_SHARE.items():
        able = [(market_weight(rank), soc) for rank, soc in ranked if soc.api_min <= api <= soc.api_max]
        total = sum(weight for weight, _soc in able)
        for weight, soc in able:
            kinds = [(product, edition) for product in soc.products for edition in editions(soc.name)]
            for product, edition in kinds:
                yield DeviceClass(product, api, api_share * weight / total / len(kinds), soc=soc, edition=edition)
