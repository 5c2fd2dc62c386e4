"""Small `.tflite` files for tests, written with the flatbuffer schema: only what a test names matters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import flatbuffers
import numpy as np
import tflite


@dataclass(frozen=True)
class T:
    """A tensor; `data` makes it a constant."""

    shape: tuple[int, ...]
    dtype: int = tflite.TensorType.FLOAT32
    data: bytes = b""
    signature: tuple[int, ...] | None = None
    scales: tuple[float, ...] = ()
    zero_points: tuple[int, ...] = ()
    name: str = ""
    buffer: int | None = None


@dataclass(frozen=True)
class Op:
    """An operation. `newer` is the field of today, `deprecated` the byte of old writers; both by default."""

    code: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    version: int = 1
    newer: int | None = None
    deprecated: int | None = None
    custom: str | None = None


def build_tflite(
    tensors: Sequence[T],
    operators: Sequence[Op],
    inputs: Sequence[int] = (0,),
    outputs: Sequence[int] = (),
    *,
    version: int = 3,
    outside: tuple[int, int] | None = None,
    subgraphs: int = 1,
) -> bytes:
    """The bytes of a file with one graph. `outside` gives buffer 1 an (offset, size) behind the flatbuffer."""
    b = flatbuffers.Builder(1024)
    buffers = [_buffer(b, b"")] + [_buffer(b, t.data) for t in tensors]
    if outside is not None:
        buffers[1] = _outside_buffer(b, *outside)
    made = [_tensor(b, t, index + 1) for index, t in enumerate(tensors)]
    codes = [_code(b, op) for op in operators]
    ops = [_operator(b, index, op) for index, op in enumerate(operators)]
    graph = _graph(b, made, ops, inputs, outputs)
    code_vector = _offsets(b, tflite.ModelStartOperatorCodesVector, codes)
    graph_vector = _offsets(b, tflite.ModelStartSubgraphsVector, [graph] * subgraphs)
    buffer_vector = _offsets(b, tflite.ModelStartBuffersVector, buffers)
    tflite.ModelStart(b)
    tflite.ModelAddVersion(b, version)
    tflite.ModelAddOperatorCodes(b, code_vector)
    tflite.ModelAddSubgraphs(b, graph_vector)
    tflite.ModelAddBuffers(b, buffer_vector)
    b.Finish(tflite.ModelEnd(b), file_identifier=b"TFL3")
    return bytes(b.Output())


def one_operation(code: int, custom: str | None = None) -> bytes:
    """A file of one operation over three numbers."""
    return build_tflite(
        [T((1, 3), name="in"), T((1, 3), name="out")], [Op(code, (0,), (1,), custom=custom)], outputs=(1,)
    )


def _graph(
    b: flatbuffers.Builder, tensors: list[int], ops: list[int], inputs: Sequence[int], outputs: Sequence[int]
) -> int:
    tensor_vector = _offsets(b, tflite.SubGraphStartTensorsVector, tensors)
    op_vector = _offsets(b, tflite.SubGraphStartOperatorsVector, ops)
    input_vector, output_vector = _ints(b, inputs), _ints(b, outputs)
    tflite.SubGraphStart(b)
    tflite.SubGraphAddTensors(b, tensor_vector)
    tflite.SubGraphAddInputs(b, input_vector)
    tflite.SubGraphAddOutputs(b, output_vector)
    tflite.SubGraphAddOperators(b, op_vector)
    return int(tflite.SubGraphEnd(b))


def _tensor(b: flatbuffers.Builder, t: T, own_buffer: int) -> int:
    quantization = _quantization(b, t) if t.scales else None
    name = b.CreateString(t.name)
    shape = _ints(b, t.shape)
    signature = _ints(b, t.signature) if t.signature is not None else None
    tflite.TensorStart(b)
    tflite.TensorAddShape(b, shape)
    tflite.TensorAddType(b, t.dtype)
    tflite.TensorAddBuffer(b, own_buffer if t.buffer is None else t.buffer)
    tflite.TensorAddName(b, name)
    if quantization is not None:
        tflite.TensorAddQuantization(b, quantization)
    if signature is not None:
        tflite.TensorAddShapeSignature(b, signature)
    return int(tflite.TensorEnd(b))


def _quantization(b: flatbuffers.Builder, t: T) -> int:
    scales = b.CreateNumpyVector(np.array(t.scales, "<f4"))
    zero_points = b.CreateNumpyVector(np.array(t.zero_points, "<i8"))
    tflite.QuantizationParametersStart(b)
    tflite.QuantizationParametersAddScale(b, scales)
    tflite.QuantizationParametersAddZeroPoint(b, zero_points)
    return int(tflite.QuantizationParametersEnd(b))


def _code(b: flatbuffers.Builder, op: Op) -> int:
    custom = b.CreateString(op.custom) if op.custom is not None else None
    newer = op.code if op.newer is None else op.newer
    deprecated = min(op.code, 127) if op.deprecated is None else op.deprecated
    tflite.OperatorCodeStart(b)
    tflite.OperatorCodeAddBuiltinCode(b, newer)
    tflite.OperatorCodeAddDeprecatedBuiltinCode(b, deprecated)
    tflite.OperatorCodeAddVersion(b, op.version)
    if custom is not None:
        tflite.OperatorCodeAddCustomCode(b, custom)
    return int(tflite.OperatorCodeEnd(b))


def _operator(b: flatbuffers.Builder, index: int, op: Op) -> int:
    inputs, outputs = _ints(b, op.inputs), _ints(b, op.outputs)
    tflite.OperatorStart(b)
    tflite.OperatorAddOpcodeIndex(b, index)
    tflite.OperatorAddInputs(b, inputs)
    tflite.OperatorAddOutputs(b, outputs)
    return int(tflite.OperatorEnd(b))


def _buffer(b: flatbuffers.Builder, content: bytes) -> int:
    vector = b.CreateByteVector(content) if content else None
    tflite.BufferStart(b)
    if vector is not None:
        tflite.BufferAddData(b, vector)
    return int(tflite.BufferEnd(b))


def _outside_buffer(b: flatbuffers.Builder, offset: int, size: int) -> int:
    tflite.BufferStart(b)
    tflite.BufferAddOffset(b, offset)
    tflite.BufferAddSize(b, size)
    return int(tflite.BufferEnd(b))


def _offsets(b: flatbuffers.Builder, start: Callable[[flatbuffers.Builder, int], object], items: Sequence[int]) -> int:
    start(b, len(items))
    for item in reversed(items):
        b.PrependUOffsetTRelative(item)
    return int(b.EndVector())


def _ints(b: flatbuffers.Builder, numbers: Sequence[int]) -> int:
    b.StartVector(4, len(numbers), 4)
    for number in reversed(numbers):
        b.PrependInt32(number)
    return int(b.EndVector())
