"""What tells phones apart that share SoC, product and Android: siblings of a chip, and versions of a library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True)
class Edition:
    """The number that the kernel gives the SoC, and the TensorFlow Lite that apps run with; None where reports are silent."""

    soc_id: int | None = None
    tflite: str | None = None

    @property
    def suffix(self) -> str:
        """How keys of classes end; empty where nothing is told."""
        return "".join(f"/{told}" for told in (self.soc_id, self.tflite) if told is not None)


USUAL: Final = Edition()
NEW_SIBLING: Final = 536
TFLITE_UPDATE: Final = "2.12.0"

_EDITIONS: Final[Mapping[str, tuple[Edition, ...]]] = MappingProxyType(
    {
        "sm8550": (Edition(soc_id=519), Edition(soc_id=NEW_SIBLING)),
        "mt6768": (Edition(tflite="2.11.0"), Edition(tflite=TFLITE_UPDATE)),
    }
)
"""By SoC, in equal shares. Which SoCs, their numbers and the shares are assumed; for the kinds see `faults`."""


def editions(soc: str) -> tuple[Edition, ...]:
    """Editions of a SoC's phones."""
    return _EDITIONS.get(soc, (USUAL,))
