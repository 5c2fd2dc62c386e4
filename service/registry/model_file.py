"""What every reader of model files shares: the error, the tensor, the limits against hostile files."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Final

from policies.errors import InvalidInput
from policies.graph import ModelGraph
from policies.vocabulary import Format, Precision

MAX_TENSORS: Final = 200_000
MAX_EDGES: Final = 1_000_000
"""Tensor slots of all operators together: vectors may overlap in the file, so their sum is bounded too."""

MAX_RANK: Final = 16
MAX_ELEMENTS: Final = 2**40

MAX_QUANTIZATION_VALUES: Final = 4_000_000
MAX_TEXT_BYTES: Final = 1_024
MAX_NAMES_BYTES: Final = 16 * 1024 * 1024
"""Names of all tensors together."""


class ModelFileError(InvalidInput):
    """A model file that cannot be registered.

    `reason` is stable and says what is wrong: "not-a-model" (another kind of file, or an unknown version),
    "malformed" (truncated, offsets that lead outside, indices of nothing), "too-large" (over a limit above),
    "no-graph" (no subgraph, or one with no operation).
    """

    code: ClassVar[str] = "invalid-model-file"

    def __init__(self, reason: str, detail: str, *, limit: int | None = None) -> None:
        super().__init__(detail, limit=limit)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Quantization:
    """real = scale × (stored − zero point); more than one scale means per channel along `axis`."""

    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int = 0


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor of the main graph.

    `shape` is the shape stored in the file, with 1 where a dimension is dynamic; `signature` has -1 there.
    `bytes` counts the constant data (0 for computed tensors). `sparse`: stored in a compressed form.
    """

    dtype: str
    shape: tuple[int, ...]
    signature: tuple[int, ...]
    bytes: int = 0
    quantization: Quantization | None = None
    name: str = ""
    sparse: bool = False

    @property
    def elements(self) -> int:
        """Number of elements, dynamic dimensions counted as one."""
        return math.prod(self.shape)

    @property
    def dynamic_axes(self) -> tuple[int, ...]:
        """Axes whose size is known only when the model runs."""
        return tuple(axis for axis, size in enumerate(self.signature) if size < 0)


CONTROL_FLOW: Final = frozenset(
    {"IF", "WHILE", "CALL", "CALL_ONCE", "STABLEHLO_WHILE", "STABLEHLO_CASE", "If", "Loop", "Scan"}
)
"""Of LiteRT and of ONNX."""


@dataclass(frozen=True, slots=True)
class About:
    """What a file says of itself: the version of its format, a description, names of signatures and of metadata,
    and of files beside it that its weights are in.
    """

    schema: str
    description: str = ""
    signatures: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()
    external_files: tuple[str, ...] = ()


@dataclass(frozen=True)
class ModelFile:
    """A parsed file. `tensors` and `graph` are those of the main subgraph; `graph` counts tensors from 0.

    `weights`: position of a node → the tensor that stores its weights, be it behind a dequantise. `weight_bytes`: bytes
    of constants by element type, shared ones once. `versions`: operation → the highest version that occurs.
    """

    format: Format
    graph: ModelGraph
    precision: Precision
    tensors: tuple[Tensor, ...]
    weights: Mapping[int, int]
    weight_bytes: Mapping[str, int]
    versions: Mapping[str, int]
    subgraphs: int
    about: About

    @cached_property
    def inputs(self) -> tuple[Tensor, ...]:
        """The model's inputs, in order."""
        return tuple(self.tensors[index] for index in self.graph.inputs)

    @cached_property
    def outputs(self) -> tuple[Tensor, ...]:
        """The model's outputs, in order."""
        return tuple(self.tensors[index] for index in self.graph.outputs)

    @cached_property
    def operations(self) -> Mapping[str, int]:
        """Operation → how often it occurs."""
        return Counter(node.op for node in self.graph.nodes)

    @property
    def dynamic_tensors(self) -> tuple[int, ...]:
        """Tensors with a dimension that is known only when the model runs."""
        return tuple(index for index, tensor in enumerate(self.tensors) if tensor.dynamic_axes)

    @property
    def control_flow(self) -> tuple[str, ...]:
        """Operations that run another subgraph, sorted."""
        return tuple(sorted(CONTROL_FLOW.intersection(self.operations)))


def check_limit(what: str, count: int, limit: int) -> int:
    """`count`, or ModelFileError("too-large") where it is over the limit."""
    if count > limit:
        raise ModelFileError("too-large", f"{what}: {count} is over the limit of {limit}", limit=limit)
    return count
