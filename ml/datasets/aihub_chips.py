"""Facts about Qualcomm chipsets that the AI Hub wheel does not carry: year of launch and market tier.

Years of Snapdragon platforms are those of Qualcomm's public launch announcements. Years of Dragonwing (QCS, QCM)
and automotive (SA) parts, of the eighth-generation Elite successors, and every tier are assumed: they only say
which chipsets resemble each other, never how fast one is.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final, NamedTuple


class ChipFacts(NamedTuple):
    """`year` of launch; `tier` 0 mid-range or embedded, 1 upper, 2 flagship."""

    year: int
    tier: int


CHIP_FACTS: Final = MappingProxyType(
    {
        "qualcomm-snapdragon-888": ChipFacts(2020, 2),
        "qualcomm-snapdragon-8gen1": ChipFacts(2021, 2),
        "qualcomm-snapdragon-8gen2": ChipFacts(2022, 2),
        "qualcomm-snapdragon-8gen3": ChipFacts(2023, 2),
        "qualcomm-snapdragon-8-elite": ChipFacts(2024, 2),
        "qualcomm-snapdragon-8-elite-for-galaxy": ChipFacts(2024, 2),
        "qualcomm-snapdragon-8-elite-gen5": ChipFacts(2025, 2),
        "qualcomm-snapdragon-8-elite-gen5-for-galaxy": ChipFacts(2025, 2),
        "qualcomm-snapdragon-8-elite-gen6": ChipFacts(2026, 2),  # year assumed
        "qualcomm-snapdragon-8-elite-extreme-gen6": ChipFacts(2026, 2),  # year assumed
        "qualcomm-snapdragon-7gen4": ChipFacts(2025, 1),
        "qualcomm-snapdragon-x-elite": ChipFacts(2024, 2),
        "qualcomm-snapdragon-x-plus-8-core": ChipFacts(2024, 1),
        "qualcomm-snapdragon-x2-elite": ChipFacts(2025, 2),
        # Dragonwing and automotive: years assumed.
        "qualcomm-qcm6690": ChipFacts(2025, 0),
        "qualcomm-qcs6490": ChipFacts(2021, 0),
        "qualcomm-qcs8275": ChipFacts(2024, 1),
        "qualcomm-qcs8275-proxy": ChipFacts(2024, 1),
        "qualcomm-qcs8450-proxy": ChipFacts(2021, 2),
        "qualcomm-qcs8550-proxy": ChipFacts(2023, 2),
        "qualcomm-qcs9075": ChipFacts(2024, 2),
        "qualcomm-sa7255p": ChipFacts(2023, 0),
        "qualcomm-sa8295p": ChipFacts(2021, 1),
        "qualcomm-sa8775p": ChipFacts(2022, 1),
    }
)
