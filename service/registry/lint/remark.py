"""One remark on a model file, and how places in it are named."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum

from service.registry.model_file import ModelFile


class Weight(StrEnum):
    """How bad it is."""

    ERROR = "error"
    """It cannot compute what it was made for."""
    WARNING = "warning"
    """It costs speed, or runs on fewer phones than it could."""
    NOTE = "note"
    """Good to know when arms are chosen."""


@dataclass(frozen=True, slots=True)
class Remark:
    """`code` is stable. `where` names a tensor or an operation; `advice` says what to do."""

    code: str
    weight: Weight
    where: str
    advice: str

    def to_json(self) -> dict[str, str]:
        """Plain JSON."""
        return asdict(self)


def tensor_at(model: ModelFile, number: int) -> str:
    """`tensor 12 (name)`: what people find in a viewer."""
    name = model.tensors[number].name
    return f"tensor {number} ({name})" if name else f"tensor {number}"


def operation_at(model: ModelFile, position: int) -> str:
    """`operation 7 (CONV_2D)`, in execution order."""
    return f"operation {position} ({model.graph.nodes[position].op})"
