"""What an app wants run: a model, and its variants, one a file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cached_property
from itertools import combinations
from typing import Annotated, Any, Final

from pydantic import Field, StringConstraints, field_validator, model_validator

from policies.graph import ModelGraph
from policies.language.versions import VersionRange, version_range
from policies.validation import Stated
from policies.vocabulary import RUNTIME_OF_FORMAT, Format, Precision, Runtime

Slug = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]

_TRANSFORMER_TASKS: Final = frozenset({"text-generation", "speech-recognition", "image-to-text", "text-to-speech"})
_TRANSFORMER_OPS: Final = frozenset({"BATCH_MATMUL", "EINSUM", "Einsum", "Attention"})
_TRANSFORMER_MIN_OPS: Final = 4
"""Two attention blocks: query × key and weights × value each."""


def looks_like_transformer(graph: ModelGraph) -> bool:
    """Whether the graph multiplies matrices as attention does."""
    # ONNX has one MatMul for weights and for attention: there both sides are computed.
    products = (node for node in graph.nodes if node.op == "MatMul" and graph.constants.isdisjoint(node.inputs))
    named = sum(node.op in _TRANSFORMER_OPS for node in graph.nodes)
    return named + sum(1 for _ in products) >= _TRANSFORMER_MIN_OPS


class Input(Stated):
    """An input of a file. -1 in its shape: a size that is known only when the model runs."""

    name: Annotated[str, Field(max_length=1024)]
    type: Slug
    shape: Annotated[tuple[Annotated[int, Field(ge=-1, le=2**40)], ...], Field(max_length=16)]

    @property
    def dynamic(self) -> bool:
        """Whether some size of it is known only when the model runs."""
        return -1 in self.shape

    def takes(self, shape: Sequence[int]) -> bool:
        """Whether it can be given that shape."""
        return len(shape) == len(self.shape) and all(
            mine in {-1, size} for mine, size in zip(self.shape, shape, strict=True)
        )


class Variant(Stated):
    """One file of a model. `targets` are canonical SoC names it was built for; empty: it runs on any.

    `runtime_versions`: what the vendor runtime has to be, `>= 2.42, < 3`, by numbers with dots. Where the phone's is
    not known, the file is not for it.
    `accuracy_drop` is measured against the registry's own float variant, as a share (0.01 = one point of a hundred).
    `shape_buckets` are the shapes of its dynamic input that phones compile for ahead.
    """

    id: Slug
    precision: Precision
    format: Format
    sha256: Sha256
    size_bytes: Annotated[int, Field(ge=1, le=2**40)]
    targets: Annotated[tuple[Slug, ...], Field(max_length=256)] = ()
    runtime_versions: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    accuracy_drop: Annotated[float, Field(ge=-1, le=1)] | None = None
    graph: dict[str, Any] | None = None
    inputs: Annotated[tuple[Input, ...], Field(max_length=1024)] = ()
    shape_buckets: Annotated[tuple[tuple[Annotated[int, Field(ge=1, le=2**40)], ...], ...], Field(max_length=16)] = ()

    @field_validator("graph")
    @classmethod
    def _readable(cls, graph: dict[str, Any] | None) -> dict[str, Any] | None:
        if graph is not None:
            ModelGraph.from_json(graph)
        return graph

    @field_validator("runtime_versions")
    @classmethod
    def _range(cls, text: str | None) -> str | None:
        if text is not None:
            version_range("dotted", text)
        return text

    @cached_property
    def needed_runtime(self) -> VersionRange | None:
        """`runtime_versions`, ready to be asked."""
        return version_range("dotted", self.runtime_versions) if self.runtime_versions else None

    @model_validator(mode="after")
    def _buckets_fit(self) -> Variant:
        """A bucket is a shape that the dynamic input can have."""
        if not self.shape_buckets:
            return self
        dynamic = next((given for given in self.inputs if given.dynamic), None)
        if dynamic is None:
            raise ValueError("shape_buckets are for a file with an input of dynamic size")
        for bucket in self.shape_buckets:
            if not dynamic.takes(bucket):
                raise ValueError(f"{list(bucket)} is no shape of {dynamic.name} {list(dynamic.shape)}")
        return self

    @property
    def sized_ahead(self) -> bool:
        """Whether all sizes are known when it is compiled: NNAPI refuses others, or crashes on them."""
        return bool(self.shape_buckets) or not any(given.dynamic for given in self.inputs)

    @cached_property
    def model_graph(self) -> ModelGraph | None:
        """The graph, where the file could be read."""
        return ModelGraph.from_json(self.graph) if self.graph else None

    @cached_property
    def graph_digest(self) -> str:
        """Names the graph, not the file: a file that was read wrong and is registered anew has another one."""
        return hashlib.sha256(json.dumps(self.graph, sort_keys=True).encode()).hexdigest()

    @property
    def runtime(self) -> Runtime:
        """The library that loads this kind of file."""
        return RUNTIME_OF_FORMAT[self.format]


def _share_a_target(one: Variant, other: Variant) -> bool:
    if one.runtime_versions != other.runtime_versions:
        return False
    return not (one.targets or other.targets) or bool(set(one.targets) & set(other.targets))


class GoldenReference(Stated):
    """The golden check's reference: a fixed input, and how far outputs may be off from what a float file makes of it.

    Errors are relative to the largest value that was expected of an output. The digests are of little-endian float32, one
    tensor after the other in the model's order; with `output_sha256` both are artifacts that phones can download.
    """

    input_sha256: Sha256
    tolerance: Annotated[float, Field(gt=0, le=1)]
    output_sha256: Sha256 | None = None


class ModelSpec(Stated):
    """What an app wants run, and what it can bear."""

    app: Slug
    name: Slug
    task: Slug
    family: Slug
    latency_target_ms: Annotated[float, Field(gt=0, le=3_600_000)]
    max_accuracy_drop: Annotated[float, Field(ge=0, le=1)] = 0.02
    max_memory_mb: Annotated[float, Field(gt=0)] | None = None
    params: Annotated[float, Field(gt=0)] | None = None
    golden: GoldenReference | None = None
    variants: Annotated[tuple[Variant, ...], Field(min_length=1, max_length=256)]

    @model_validator(mode="after")
    def _variants_apart(self) -> ModelSpec:
        """Arms are named by precision and format: two files that a chip could run under one name hide one of them."""
        for one, other in combinations(self.variants, 2):
            if one.id == other.id:
                raise ValueError(f"two variants have the id {one.id}")
            if (one.precision, one.format) == (other.precision, other.format) and _share_a_target(one, other):
                raise ValueError(f"{one.id} and {other.id} would be one arm")
        return self

    @cached_property
    def transformer_like(self) -> bool:
        """Whether vendor runtimes go first: by the graph where a file could be read, else by the task."""
        graph = next((v.model_graph for v in self.variants if v.model_graph is not None), None)
        if graph is None:
            return self.task in _TRANSFORMER_TASKS
        return looks_like_transformer(graph)

    def within_budget(self, variant: Variant) -> bool:
        """Whether the variant's accuracy is good enough; an unknown drop is, until the golden check says otherwise."""
        return variant.accuracy_drop is None or variant.accuracy_drop <= self.max_accuracy_drop
