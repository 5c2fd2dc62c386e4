"""Arrays in one file that is read only if it is whole, unchanged and of the version and features it is read for.

A NumPy archive without pickles, so that reading one never runs anything. Its `header` is JSON: what it is (`kind`,
`version`), the digest of the features it was made with, plain facts, and the digest of every array; `seal` is the digest
of the header. A seal finds damage and edits; it is no signature: who may write the file can write its seal too.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

HEADER: Final = "header"
SEAL: Final = "seal"


class ModelFileError(ValueError):
    """The file is damaged, was changed, or belongs to another version; the message says which."""


@dataclass(frozen=True)
class Kind:
    """What a file holds, by name, version of its layout, and digest of the features its numbers depend on."""

    name: str
    version: int
    features: str


def packed(kind: Kind, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The file's bytes; the same for the same content. `facts` are plain JSON values, arrays numbers or text."""
    header = {
        "kind": kind.name,
        "version": kind.version,
        "features": kind.features,
        "facts": dict(facts),
        "arrays": {name: _digest(array) for name, array in sorted(arrays.items())},
    }
    text = json.dumps(header, sort_keys=True).encode()
    target = io.BytesIO()
    sealed = {HEADER: np.frombuffer(text, np.uint8), SEAL: np.frombuffer(hashlib.sha256(text).digest(), np.uint8)}
    np.savez_compressed(target, allow_pickle=False, **sealed, **dict(sorted(arrays.items())))
    return target.getvalue()


def unpacked(content: bytes, kind: Kind) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Facts and arrays; raises ModelFileError on anything but a whole, unchanged file of exactly this kind."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            found = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, KeyError) as error:
        raise ModelFileError(f"not a whole model file: {error}") from error
    if not {HEADER, SEAL} <= found.keys():
        raise ModelFileError("not a model file: it has no header")
    text = found.pop(HEADER).tobytes()
    if found.pop(SEAL).tobytes() != hashlib.sha256(text).digest():
        raise ModelFileError("the header was changed: its digest is another")
    header = json.loads(text)
    _check_kind(header, kind)
    if header["arrays"] != {name: _digest(array) for name, array in sorted(found.items())}:
        raise ModelFileError("an array was changed, added or lost: its digest is another")
    return header["facts"], found


def _check_kind(header: Mapping[str, Any], kind: Kind) -> None:
    if (header["kind"], header["version"]) != (kind.name, kind.version):
        made = f"{header['kind']} of version {header['version']}"
        raise ModelFileError(f"the file is a {made}, this program reads {kind.name} of version {kind.version}")
    if header["features"] != kind.features:
        raise ModelFileError("the file was made with other features or kernel terms than this program has")


def _digest(array: NDArray[Any]) -> str:
    head = f"{array.dtype.str}{array.shape}".encode()
    return hashlib.sha256(head + np.ascontiguousarray(array).tobytes()).hexdigest()
