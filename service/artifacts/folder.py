"""Artifacts in a folder: written beside it, made durable, then renamed to their digest."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final

from service.artifacts.store import Kept, UnknownArtifact, shard

INCOMING: Final = "incoming"


class FolderStore:
    """`incoming` is in the same file system, so that a rename is one step."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @property
    def incoming(self) -> Path:
        """Where files wait; made when it is asked for."""
        folder = self._root / INCOMING
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def size_bytes(self, sha256: str) -> int:
        """The file's size; raises UnknownArtifact."""
        try:
            return self._path(sha256).stat().st_size
        except FileNotFoundError as error:
            raise _unknown(sha256) from error

    def open(self, sha256: str) -> BinaryIO:
        """The file; raises UnknownArtifact."""
        try:
            return self._path(sha256).open("rb")
        except FileNotFoundError as error:
            raise _unknown(sha256) from error

    def keep(self, sha256: str, file: Path) -> None:
        """Durable before it has its name, and the name durable before anybody is told."""
        target = self._path(sha256)
        target.parent.mkdir(parents=True, exist_ok=True)
        _sync(file)
        file.replace(target)
        _sync(target.parent)

    def remove(self, sha256: str) -> None:
        """Let the file go."""
        self._path(sha256).unlink(missing_ok=True)

    def kept(self) -> Iterator[Kept]:
        """All files, by digest."""
        for file in sorted(self._root.glob("[0-9a-f][0-9a-f]/*")):
            with suppress(FileNotFoundError):  # somebody removed it meanwhile
                facts = file.stat()
                yield Kept(file.name, facts.st_size, datetime.fromtimestamp(facts.st_mtime, UTC))

    def _path(self, sha256: str) -> Path:
        return self._root / shard(sha256)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unknown(sha256: str) -> UnknownArtifact:
    return UnknownArtifact(f"no file of the digest {sha256} is kept here", field="sha256")
