"""`.onnx` → `ModelGraph` and what the file says of its tensors. A pure function of the bytes; needs the extra `onnx`.

Weights in other files are never opened: their names and sizes are taken as stated.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

import onnx
from google.protobuf.message import DecodeError
from onnx import TensorProto, numpy_helper, shape_inference

from policies.graph import MAX_COUNT, MAX_NODES, ModelGraph, order_fault
from policies.vocabulary import Format
from service.registry.model_file import (
    MAX_EDGES,
    MAX_ELEMENTS,
    MAX_QUANTIZATION_VALUES,
    MAX_RANK,
    MAX_TENSORS,
    MAX_TEXT_BYTES,
    About,
    ModelFile,
    ModelFileError,
    Quantization,
    Tensor,
    check_limit,
)
from service.registry.onnx_nodes import ABSENT, Nodes, Operation
from service.registry.precision import precision_class

DEFAULT_DOMAINS: Final = frozenset({"", "ai.onnx"})
SMALL_BYTES: Final = 4_096
"""Constants that shapes may depend on; larger ones are let go before shapes are inferred."""

_TYPES: Final = MappingProxyType(
    {value: name.lower() for name, value in TensorProto.DataType.items()}
    | {TensorProto.FLOAT: "float32", TensorProto.DOUBLE: "float64", TensorProto.UNDEFINED: "none"}
)
_BITS: Final = MappingProxyType(
    {"float32": 32, "float16": 16, "bfloat16": 16, "float64": 64, "int4": 4, "uint4": 4, "int2": 2, "uint2": 2}
    | {f"{sign}int{bits}": bits for sign in ("", "u") for bits in (8, 16, 32, 64)}
    | {"bool": 8}
)

QUANTISED_BY: Final[Mapping[str, tuple[tuple[int, int, int], ...]]] = MappingProxyType(
    {
        "DequantizeLinear": ((0, 1, 2),),
        "QLinearConv": ((0, 1, 2), (3, 4, 5)),
        "QLinearMatMul": ((0, 1, 2), (3, 4, 5)),
    }
)
"""Operation → (quantised input, its scale, its zero point)."""
QUANTISES: Final = MappingProxyType({"QuantizeLinear": (1, 2), "QLinearConv": (6, 7), "QLinearMatMul": (6, 7)})
"""Operation → (scale, zero point) of its output."""


def read_onnx(payload: bytes) -> ModelFile:
    """Parse an `.onnx` file; raises ModelFileError where it is none, is broken, or is over a limit."""
    try:
        return _Reader(onnx.ModelProto.FromString(payload)).read()
    except DecodeError as error:
        raise ModelFileError("malformed", "the file is truncated or damaged, or no .onnx file") from error
    except (ValueError, TypeError, OverflowError) as error:
        raise ModelFileError("malformed", f"the file is damaged: {error}") from error


class _Reader:
    """One pass over one model: tensors get numbers as their names come up."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._numbers: dict[str, int] = {}
        self._constants = {one.name: one for one in model.graph.initializer}

    def read(self) -> ModelFile:
        graph = self._model.graph
        if not graph.node:
            raise ModelFileError("no-graph", "the file has no graph with operations")
        check_limit("operators", len(graph.node), MAX_NODES)
        check_limit("tensor slots", sum(len(n.input) + len(n.output) for n in graph.node), MAX_EDGES)
        given = tuple(self._number(one.name) for one in graph.input if one.name not in self._constants)
        operations = [self._operation(node) for node in graph.node]
        outputs = tuple(self._number(one.name) for one in graph.output if one.name)
        quantised = self._quantised()
        tensors = self._tensors(quantised)
        constants = frozenset(number for number, tensor in enumerate(tensors) if tensor.bytes)
        made = Nodes(operations, tensors, constants)
        nodes = made.nodes()
        if (fault := order_fault(nodes)) is not None:
            raise ModelFileError("malformed", fault)
        read = ModelGraph(nodes, given, outputs, constants, sum(tensor.bytes for tensor in tensors))
        check_limit("multiply-accumulates", read.macs, MAX_COUNT)
        weights = made.weights()
        weighted = [(nodes[position].activation, tensors[number].dtype) for position, number in weights.items()]
        opsets = {entry.domain: entry.version for entry in self._model.opset_import}
        return ModelFile(
            format=Format.ONNX,
            graph=read,
            precision=precision_class(weighted, (tensors[n].dtype for node in nodes for n in node.outputs)),
            tensors=tensors,
            weights=weights,
            weight_bytes=_bytes_by_type(tensors),
            versions=MappingProxyType({_name(n): opsets.get(n.domain, 0) for n in graph.node}),
            subgraphs=1 + sum(1 for _ in _subgraphs(graph)),
            about=self._about(),
        )

    def _number(self, name: str) -> int:
        if not name:
            return ABSENT
        check_limit("name", len(name), MAX_TEXT_BYTES)
        check_limit("tensors", len(self._numbers), MAX_TENSORS)
        return self._numbers.setdefault(name, len(self._numbers))

    def _operation(self, node: Any) -> Operation:
        inputs, outputs = (tuple(self._number(name) for name in side) for side in (node.input, node.output))
        return Operation(_name(node), inputs, outputs)

    def _tensors(self, quantised: Mapping[str, Quantization]) -> tuple[Tensor, ...]:
        sizes = {name: _stored_bytes(one) for name, one in self._constants.items()}
        shown = self._shown()
        return tuple(_tensor(name, shown.get(name), sizes.get(name, 0), quantised.get(name)) for name in self._numbers)

    def _shown(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """Name → (type, shape with -1 for what is not known), stated or inferred."""
        found = {one.name: (_type(one.data_type), tuple(one.dims)) for one in self._constants.values()}
        _let_go(self._constants.values())
        try:
            graph = shape_inference.infer_shapes(self._model).graph
        except (shape_inference.InferenceError, RuntimeError):  # what is stated has to do
            graph = self._model.graph
        for one in (*graph.input, *graph.output, *graph.value_info):
            kind = one.type.tensor_type
            found.setdefault(one.name, (_type(kind.elem_type), tuple(_size(dim) for dim in kind.shape.dim)))
        return found

    def _quantised(self) -> dict[str, Quantization]:
        """Name of a quantised tensor → its parameters, where they are constants of the file."""
        found: dict[str, Quantization] = {}
        for node in self._model.graph.node:
            places = [(node.input[at], s, z) for at, s, z in QUANTISED_BY.get(node.op_type, ()) if at < len(node.input)]
            if node.op_type in QUANTISES and node.output:
                places.append((node.output[0], *QUANTISES[node.op_type]))
            for name, scale, zero_point in places:
                stated = self._values(node, scale)
                if stated is not None:
                    points = self._values(node, zero_point) or ()
                    found[name] = Quantization(tuple(map(float, stated)), tuple(map(int, points)), _axis(node))
        check_limit("quantisation values", sum(len(one.scales) for one in found.values()), MAX_QUANTIZATION_VALUES)
        return found

    def _values(self, node: Any, at: int) -> list[Any] | None:
        constant = self._constants.get(node.input[at]) if at < len(node.input) else None
        if constant is None or constant.data_location == TensorProto.EXTERNAL:
            return None
        values: list[Any] = numpy_helper.to_array(constant).ravel().tolist()
        return values

    def _about(self) -> About:
        model = self._model
        opsets = ", ".join(f"{one.domain or 'ai.onnx'} {one.version}" for one in model.opset_import)
        return About(
            schema=f"IR {model.ir_version}, opset {opsets}",
            description=f"{model.producer_name} {model.producer_version}".strip()[:MAX_TEXT_BYTES],
            metadata=tuple(one.key[:MAX_TEXT_BYTES] for one in model.metadata_props),
            external_files=tuple(sorted(set(_locations(self._constants.values())))),
        )


def _name(node: Any) -> str:
    return str(node.op_type) if node.domain in DEFAULT_DOMAINS else f"{node.domain}:{node.op_type}"


def _type(number: int) -> str:
    return str(_TYPES.get(number, f"type{number}"))


def _size(dimension: Any) -> int:
    return int(dimension.dim_value) if dimension.HasField("dim_value") else -1


def _tensor(
    name: str, shown: tuple[str, tuple[int, ...]] | None, stored_bytes: int, quantised: Quantization | None
) -> Tensor:
    dtype, sizes = shown or ("none", ())
    check_limit("rank", len(sizes), MAX_RANK)
    shape = tuple(1 if size < 0 else size for size in sizes)
    check_limit("elements of a tensor", math.prod(shape), MAX_ELEMENTS)
    return Tensor(dtype, shape, sizes, stored_bytes, quantised, name)


def _stored_bytes(constant: Any) -> int:
    """Bytes of a constant by its type and shape; raises ModelFileError where the file holds other ones."""
    if any(size < 0 for size in constant.dims):
        raise ModelFileError("malformed", f"the constant {constant.name} has a negative size")
    elements = check_limit("elements of a tensor", math.prod(constant.dims), MAX_ELEMENTS)
    expected = math.ceil(elements * _BITS.get(_type(constant.data_type), 8) / 8)
    if constant.raw_data and len(constant.raw_data) != expected and _type(constant.data_type) in _BITS:
        raise ModelFileError(
            "malformed", f"the constant {constant.name} has {len(constant.raw_data)} bytes where {expected} belong"
        )
    return expected


def _let_go(constants: Iterable[Any]) -> None:
    """Drop the data of large constants: inferring copies the model, and no shape depends on them."""
    for constant in constants:
        if len(constant.raw_data) > SMALL_BYTES:
            constant.ClearField("raw_data")


def _locations(constants: Iterable[Any]) -> Iterator[str]:
    for constant in constants:
        if constant.data_location == TensorProto.EXTERNAL:
            yield from (one.value[:MAX_TEXT_BYTES] for one in constant.external_data if one.key == "location")


def _axis(node: Any) -> int:
    return next((int(one.i) for one in node.attribute if one.name == "axis"), 1)


def _subgraphs(graph: Any) -> Iterator[Any]:
    for node in graph.node:
        for attribute in node.attribute:
            for inner in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                yield inner
                yield from _subgraphs(inner)


def _bytes_by_type(tensors: Iterable[Tensor]) -> Mapping[str, int]:
    counted: Counter[str] = Counter()
    for tensor in tensors:
        if tensor.bytes:
            counted[tensor.dtype] += tensor.bytes
    return MappingProxyType(dict(counted))
