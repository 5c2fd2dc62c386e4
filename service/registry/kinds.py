"""The kind of a model file by its first bytes. Light: the web process asks, and reads no file itself."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Final

from policies.vocabulary import Format

TFLITE_IDENTIFIER: Final = b"TFL3"
NEWEST_IR: Final = 32
"""A bound for ONNX's IR version, which stands in the second byte; it is at 13."""
ONNX_FIELDS: Final = frozenset({0x12, 0x1A, 0x22, 0x28, 0x32, 0x3A, 0x42})
"""Tags of the fields that may follow it."""


def kinds_read() -> frozenset[Format]:
    """The kinds that this installation reads: ONNX with the extra `onnx`."""
    return frozenset({Format.TFLITE, Format.ONNX} if find_spec("onnx") else {Format.TFLITE})


def kind_of(path: Path) -> Format | None:
    """The kind of file by its first bytes, of those that are read here."""
    with path.open("rb") as file:
        head = file.read(8)
    if head[4:] == TFLITE_IDENTIFIER:
        return Format.TFLITE
    onnx = head[:1] == b"\x08" and 0 < head[1] <= NEWEST_IR and head[2] in ONNX_FIELDS if len(head) == 8 else False
    return Format.ONNX if onnx and Format.ONNX in kinds_read() else None
