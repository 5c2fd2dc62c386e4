"""A model file on disk → what is known of it: the kind of file, its precision, its graph, and the facts that people read."""

from __future__ import annotations

import mmap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from policies.support import minimum_feature_level
from policies.vocabulary import Format
from service.registry.inspected import Inspected
from service.registry.kinds import kind_of
from service.registry.lint import lint
from service.registry.model_file import ModelFile, Tensor
from service.registry.tflite import read_tflite

EXAMPLES: Final = 3


def inspect_file(path: Path) -> Inspected | None:
    """Read the file; None where it is of a kind that nothing here reads. Raises OSError, and ModelFileError
    where the file is of a known kind and broken.
    """
    kind = kind_of(path)
    if kind is None:
        return None
    model = _READERS[kind](path)
    return Inspected(model.format, model.precision, model.graph, facts_of(model))


def _tflite(path: Path) -> ModelFile:
    """The file is mapped, not loaded: weights that are not looked at cost no memory."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        return read_tflite(mapped)


def _onnx(path: Path) -> ModelFile:
    # An installation without the extra `onnx` keeps such files unread.
    from service.registry.onnx_file import read_onnx

    return read_onnx(path.read_bytes())


_READERS: Final = MappingProxyType({Format.TFLITE: _tflite, Format.ONNX: _onnx})


def facts_of(model: ModelFile) -> dict[str, Any]:
    """The facts of a model as plain JSON. Counts are of the main subgraph.

    `nnapi_level`: the feature level at which NNAPI takes all of it that it ever will; None where that is nothing.
    """
    computed = [tensor for tensor in model.tensors if not tensor.bytes]
    quantised = [tensor.quantization for tensor in model.tensors if tensor.quantization]
    return {
        "format": model.format,
        "schema": model.about.schema,
        "description": model.about.description,
        "precision": model.precision,
        "subgraphs": model.subgraphs,
        "nodes": len(model.graph.nodes),
        "tensors": len(model.tensors),
        "macs": model.graph.macs,
        "weight_bytes": dict(model.weight_bytes),
        "operations": dict(model.operations),
        "versions": dict(model.versions),
        "types": dict(Counter(_types(model))),
        "computed_types": dict(Counter(tensor.dtype for tensor in computed)),
        "quantized_tensors": len(quantised),
        "per_channel_tensors": sum(len(quantization.scales) > 1 for quantization in quantised),
        "sparse_tensors": sum(tensor.sparse for tensor in model.tensors),
        "unpacked_fp16_weights": sum(node.activation == "float16w" for node in model.graph.nodes),
        "control_flow": list(model.control_flow),
        "nnapi_level": minimum_feature_level(model.graph) if model.format is Format.TFLITE else None,
        "dynamic_tensors": len(model.dynamic_tensors),
        "dynamic_examples": [_tensor(model.tensors[number]) for number in model.dynamic_tensors[:EXAMPLES]],
        "signatures": list(model.about.signatures),
        "metadata": list(model.about.metadata),
        "external_files": list(model.about.external_files),
        "inputs": [_tensor(tensor) for tensor in model.inputs],
        "outputs": [_tensor(tensor) for tensor in model.outputs],
        "remarks": [remark.to_json() for remark in lint(model)],
    }


def _types(model: ModelFile) -> Iterator[str]:
    """`OPERATION|activation type`, and the type that weights are stored in where there are such: hybrids show here."""
    for position, node in enumerate(model.graph.nodes):
        weights = model.weights.get(position)
        yield node.key if weights is None else f"{node.key}|weights {model.tensors[weights].dtype}"


def _tensor(tensor: Tensor) -> dict[str, Any]:
    return {"name": tensor.name, "type": tensor.dtype, "shape": list(tensor.signature)}
