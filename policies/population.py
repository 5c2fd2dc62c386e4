"""Who a phone belongs to, by what it calls itself: retail, a custom ROM, an emulator."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from policies.report import Device


class Population(StrEnum):
    """Retail phones feed learning; emulators and custom ROMs are kept apart."""

    RETAIL = "retail"
    CUSTOM_ROM = "custom-rom"
    EMULATOR = "emulator"


_EMULATOR: Final = re.compile(
    r"sdk_gphone|goldfish|ranchu|emulator|vbox86|genymotion|cuttlefish|generic_x86", re.IGNORECASE
)
_CUSTOM_ROM: Final = re.compile(
    r"lineage|grapheneos|calyx|crdroid|evolution_?x|test-keys|dev-keys|:userdebug/|:eng/", re.IGNORECASE
)


def population_of(device: Device, sample_driver: bool) -> Population:
    """The population; `sample_driver`: NNAPI lists one of its test drivers, as emulators do."""
    names = " ".join(filter(None, (device.model, device.product, device.soc_model, device.build_fingerprint)))
    if _EMULATOR.search(names) or sample_driver:
        return Population.EMULATOR
    return Population.CUSTOM_ROM if _CUSTOM_ROM.search(names) else Population.RETAIL
