"""What the shape of a graph asks of a phone."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import looks_like_transformer
from policies.operations import NNAPI_OPERATIONS
from service.registry.lint.remark import Remark, Weight, operation_at, tensor_at
from service.registry.model_file import CONTROL_FLOW, ModelFile


def control_flow(model: ModelFile) -> Iterator[Remark]:
    """Operations that run another subgraph: no delegate of LiteRT takes them."""
    for position, node in enumerate(model.graph.nodes):
        if node.op == "CALL_ONCE":
            advice = "runs once, at the start, on the CPU: variables are set there"
            yield Remark("control-flow", Weight.NOTE, operation_at(model, position), advice)
        elif node.op in CONTROL_FLOW:
            nnapi = NNAPI_OPERATIONS.get(node.op.upper())
            since = f"NNAPI has it from feature level {nnapi.since_level} on" if nnapi else "NNAPI never had it"
            advice = f"no delegate takes it, {since}: unroll it where that is possible"
            yield Remark("control-flow", Weight.WARNING, operation_at(model, position), advice)


def dynamic_sizes(model: ModelFile) -> Iterator[Remark]:
    """Inputs whose size is known only when the model runs; of computed tensors they are the reason."""
    dynamic = set(model.dynamic_tensors)
    for number in [*(one for one in model.graph.inputs if one in dynamic)] or sorted(dynamic)[:1]:
        advice = "NNAPI and most NPUs compile for fixed sizes: state shape_buckets, or convert with fixed ones"
        yield Remark("dynamic-size", Weight.WARNING, tensor_at(model, number), advice)


def external_data(model: ModelFile) -> Iterator[Remark]:
    """Weights in other files: a variant is one file, and phones would get it without them."""
    for name in model.about.external_files:
        yield Remark("external-data", Weight.ERROR, name, "phones get one file a variant: save the weights into it")


def transformer_like(model: ModelFile) -> Iterator[Remark]:
    """Products of computed matrices, as attention has them."""
    if looks_like_transformer(model.graph):
        advice = "it has the structure of a transformer: vendor runtimes are tried before NNAPI"
        yield Remark("transformer-like", Weight.NOTE, "the graph", advice)
