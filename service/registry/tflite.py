"""`.tflite` → `ModelGraph` and what the file says of its tensors. A pure function of the bytes.

The flatbuffer schema is that of LiteRT (`tflite/schema/schema.fbs`), read with the PyPI package `tflite`. Its
generated classes trust every offset; here each read is bounded, and whatever a broken offset raises becomes a
`ModelFileError`.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from mmap import mmap
from types import MappingProxyType
from typing import Any, Final

import tflite

from policies.graph import MAX_COUNT, MAX_NODES, ModelGraph, order_fault
from policies.vocabulary import Format
from service.registry.kinds import TFLITE_IDENTIFIER
from service.registry.model_file import (
    MAX_EDGES,
    MAX_ELEMENTS,
    MAX_NAMES_BYTES,
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
from service.registry.precision import precision_class
from service.registry.tflite_nodes import NO_TENSOR, Operator, node_of, stored_weights

SCHEMA_VERSION: Final = 3
CUSTOM: Final = int(tflite.BuiltinOperator.CUSTOM)

# Slots of the schema's tables that are read past the generated classes: those copy a string of any length.
_OPERATOR_CODE_CUSTOM_CODE: Final = 6
_OPERATOR_CODE_BUILTIN: Final = 10
_TENSOR_NAME: Final = 10
_MODEL_DESCRIPTION: Final = 10
_METADATA_NAME: Final = 4
_SIGNATURE_KEY: Final = 8
_MAX_NAMED: Final = 1_000

# What flatbuffers, struct and numpy raise when an offset leads astray.
_BROKEN: Final = (IndexError, struct.error, ValueError, TypeError, OverflowError, AttributeError)


def _names(enum: type) -> Mapping[int, str]:
    return MappingProxyType({value: name for name, value in vars(enum).items() if isinstance(value, int)})


_OPERATOR_NAMES: Final = _names(tflite.BuiltinOperator)
_TYPE_NAMES: Final = MappingProxyType({value: name.lower() for value, name in _names(tflite.TensorType).items()})


def read_tflite(payload: bytes | mmap) -> ModelFile:
    """Parse a `.tflite` file; raises ModelFileError where it is none, is broken, or is over a limit."""
    if len(payload) < 8 or payload[4:8] != TFLITE_IDENTIFIER:
        raise ModelFileError("not-a-model", "no TFL3 identifier: this is not a .tflite file")
    try:
        return _Reader(payload).read()
    except _BROKEN as error:
        raise ModelFileError("malformed", f"the file is truncated or damaged: {error}") from error


class _Reader:
    """One pass over one file. Holds the budgets that several vectors share."""

    def __init__(self, payload: bytes | mmap) -> None:
        self._payload = payload
        self._edges_left = MAX_EDGES
        self._names_left = MAX_NAMES_BYTES
        self._buffer_sizes: dict[int, int] = {}
        self._bytes_of_type: dict[str, int] = {}
        self._quantization_left = MAX_QUANTIZATION_VALUES

    def read(self) -> ModelFile:
        model = tflite.Model.GetRootAs(self._payload, 0)
        if model.Version() != SCHEMA_VERSION:
            raise ModelFileError("not-a-model", f"schema version {model.Version()} is not {SCHEMA_VERSION}")
        subgraphs = check_limit("subgraphs", model.SubgraphsLength(), MAX_TENSORS)
        if not subgraphs or not model.Subgraphs(0).OperatorsLength():
            raise ModelFileError("no-graph", "the file has no subgraph with operations")
        main = model.Subgraphs(0)
        inputs = self._tensor_numbers(main.InputsLength(), main.InputsAsNumpy)
        outputs = self._tensor_numbers(main.OutputsLength(), main.OutputsAsNumpy)
        tensors = self._tensors(model, main)
        operators = self._operators(model, main, len(tensors))
        _check_numbers(inputs + outputs, len(tensors))
        constants = frozenset(index for index, tensor in enumerate(tensors) if tensor.bytes)
        nodes = tuple(node_of(operator, tensors, constants) for operator in operators)
        if (fault := order_fault(nodes)) is not None:
            raise ModelFileError("malformed", fault)
        # Tensors may share a buffer: its bytes count once.
        graph = ModelGraph(nodes, inputs, outputs, constants, sum(self._buffer_sizes.values()))
        check_limit("multiply-accumulates", graph.macs, MAX_COUNT)
        weights = stored_weights(operators, nodes, constants)
        weighted = [(nodes[position].activation, tensors[number].dtype) for position, number in weights.items()]
        return ModelFile(
            format=Format.TFLITE,
            graph=graph,
            precision=precision_class(weighted, (tensors[number].dtype for node in nodes for number in node.outputs)),
            tensors=tensors,
            weights=weights,
            weight_bytes=MappingProxyType(self._bytes_of_type),
            versions=_versions(operators),
            subgraphs=subgraphs,
            about=self._about(model),
        )

    def _about(self, model: Any) -> About:
        named = check_limit("metadata", model.MetadataLength(), _MAX_NAMED)
        signed = check_limit("signatures", model.SignatureDefsLength(), _MAX_NAMED)
        return About(
            f"schema {model.Version()}",
            self._text(model, _MODEL_DESCRIPTION),
            tuple(self._text(model.SignatureDefs(index), _SIGNATURE_KEY) for index in range(signed)),
            tuple(self._text(model.Metadata(index), _METADATA_NAME) for index in range(named)),
        )

    def _tensor_numbers(self, length: int, read: Any) -> tuple[int, ...]:
        self._edges_left -= length
        if self._edges_left < 0:
            raise ModelFileError("too-large", f"more than {MAX_EDGES} tensor slots", limit=MAX_EDGES)
        return tuple(read().tolist()) if length else ()

    def _operators(self, model: Any, main: Any, tensor_count: int) -> tuple[Operator, ...]:
        codes_count = check_limit("operator codes", model.OperatorCodesLength(), MAX_NODES)
        codes: dict[int, tuple[str, int]] = {}
        operators = []
        for position in range(check_limit("operators", main.OperatorsLength(), MAX_NODES)):
            raw = main.Operators(position)
            index = raw.OpcodeIndex()
            if index >= codes_count:
                raise ModelFileError("malformed", f"operator {position} has operator code {index} of {codes_count}")
            if index not in codes:
                codes[index] = self._operation(model.OperatorCodes(index))
            inputs = self._tensor_numbers(raw.InputsLength(), raw.InputsAsNumpy)
            outputs = self._tensor_numbers(raw.OutputsLength(), raw.OutputsAsNumpy)
            _check_numbers(inputs + outputs, tensor_count)
            operators.append(Operator(*codes[index], inputs, outputs))
        return tuple(operators)

    def _operation(self, code: Any) -> tuple[str, int]:
        # Old writers fill only the deprecated byte, new ones only the newer field, most both: the larger is right.
        # The generated `BuiltinCode()` is not used: it drops codes below 127 that only the newer field holds.
        builtin = max(self._int32(code, _OPERATOR_CODE_BUILTIN), code.DeprecatedBuiltinCode())
        if builtin == CUSTOM:
            return f"CUSTOM:{self._text(code, _OPERATOR_CODE_CUSTOM_CODE)}", code.Version()
        return _OPERATOR_NAMES.get(builtin, f"BUILTIN_{builtin}"), code.Version()

    def _int32(self, table: Any, slot: int) -> int:
        offset = table._tab.Offset(slot)
        return int(struct.unpack_from("<i", self._payload, table._tab.Pos + offset)[0]) if offset else 0

    def _text(self, table: Any, slot: int) -> str:
        offset = table._tab.Offset(slot)
        if not offset:
            return ""
        start = table._tab.Indirect(table._tab.Pos + offset)
        (length,) = struct.unpack_from("<I", self._payload, start)
        check_limit("text", length, MAX_TEXT_BYTES)
        self._names_left -= length
        if self._names_left < 0:
            raise ModelFileError("too-large", f"more than {MAX_NAMES_BYTES} bytes of names", limit=MAX_NAMES_BYTES)
        return self._payload[start + 4 : start + 4 + length].decode("utf-8", errors="replace")

    def _tensors(self, model: Any, main: Any) -> tuple[Tensor, ...]:
        sizes = self._buffer_sizes
        tensors = []
        for index in range(check_limit("tensors", main.TensorsLength(), MAX_TENSORS)):
            raw = main.Tensors(index)
            buffer = raw.Buffer()
            first = buffer not in sizes
            if first:
                sizes[buffer] = self._buffer_bytes(model, buffer)
            tensor = self._tensor(raw, sizes[buffer])
            if first and tensor.bytes:
                self._bytes_of_type[tensor.dtype] = self._bytes_of_type.get(tensor.dtype, 0) + tensor.bytes
            tensors.append(tensor)
        return tuple(tensors)

    def _buffer_bytes(self, model: Any, index: int) -> int:
        if index >= model.BuffersLength():
            raise ModelFileError("malformed", f"buffer {index} of {model.BuffersLength()}")
        buffer = model.Buffers(index)
        # Over 2 GB the data lies behind the flatbuffer, at `offset`; 0 and 1 mean that it does not.
        outside = buffer.Size() if buffer.Offset() > 1 else 0
        if outside and buffer.Offset() + outside > len(self._payload):
            raise ModelFileError("malformed", f"buffer {index} ends behind the end of the file")
        length = int(buffer.DataLength())
        return outside or (int(buffer.DataAsNumpy().nbytes) if length else 0)

    def _tensor(self, raw: Any, buffer_bytes: int) -> Tensor:
        check_limit("rank", max(raw.ShapeLength(), raw.ShapeSignatureLength()), MAX_RANK)
        stored = tuple(raw.ShapeAsNumpy().tolist()) if raw.ShapeLength() else ()
        signature = tuple(raw.ShapeSignatureAsNumpy().tolist()) if raw.ShapeSignatureLength() else stored
        if len(signature) != len(stored):
            raise ModelFileError("malformed", f"a shape of rank {len(stored)} has a signature of rank {len(signature)}")
        tensor = Tensor(
            dtype=_TYPE_NAMES.get(raw.Type(), f"type{raw.Type()}"),
            shape=tuple(1 if size < 0 else size for size in stored),
            signature=signature,
            bytes=buffer_bytes,
            quantization=self._quantization(raw.Quantization()),
            name=self._text(raw, _TENSOR_NAME),
            sparse=raw.Sparsity() is not None,
        )
        check_limit("elements of a tensor", tensor.elements, MAX_ELEMENTS)
        return tensor

    def _quantization(self, raw: Any) -> Quantization | None:
        if raw is None or not raw.ScaleLength():
            return None
        self._quantization_left -= raw.ScaleLength() + raw.ZeroPointLength()
        if self._quantization_left < 0:
            limit = MAX_QUANTIZATION_VALUES
            raise ModelFileError("too-large", f"more than {limit} quantisation values", limit=limit)
        zero_points = tuple(raw.ZeroPointAsNumpy().tolist()) if raw.ZeroPointLength() else ()
        return Quantization(tuple(raw.ScaleAsNumpy().tolist()), zero_points, raw.QuantizedDimension())


def _check_numbers(numbers: Sequence[int], tensor_count: int) -> None:
    for number in numbers:
        if not NO_TENSOR <= number < tensor_count:
            raise ModelFileError("malformed", f"tensor {number} of {tensor_count}")


def _versions(operators: Sequence[Operator]) -> Mapping[str, int]:
    versions: dict[str, int] = {}
    for operator in operators:
        versions[operator.op] = max(operator.version, versions.get(operator.op, 0))
    return MappingProxyType(versions)
