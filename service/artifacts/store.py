"""What keeps artifacts: one of two, chosen by an address. Bytes go in whole and checked, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, ClassVar, Protocol

from policies.errors import Conflict, NotKnown


class UnknownArtifact(NotKnown):
    """No file of that digest is kept."""

    code: ClassVar[str] = "unknown-artifact"


class NoArtifactStore(Conflict):
    """The installation was started without a place for files."""

    code: ClassVar[str] = "no-artifact-store"


@dataclass(frozen=True, slots=True)
class Kept:
    """A file that the store has."""

    sha256: str
    size_bytes: int
    kept_at: datetime


class ArtifactStore(Protocol):
    """Files by their digest. Every method may raise OSError where the disk or the object store does not answer."""

    @property
    def incoming(self) -> Path:
        """The folder where files wait until they are checked, on this machine."""

    def size_bytes(self, sha256: str) -> int:
        """The file's size; raises UnknownArtifact."""

    def open(self, sha256: str) -> BinaryIO:
        """The file from its start, seekable; raises UnknownArtifact."""

    def keep(self, sha256: str, file: Path) -> None:
        """Take over a checked file from `incoming`. Keeping it again is no error. Whoever opens it sees all of it."""

    def remove(self, sha256: str) -> None:
        """Let the file go; one that is not there is no error."""

    def kept(self) -> Iterator[Kept]:
        """All files."""


def shard(sha256: str) -> str:
    """`ab/abcd…`: folders stay small."""
    return f"{sha256[:2]}/{sha256}"


def open_store(address: str) -> ArtifactStore:
    """The store at a folder, or at a URL that fsspec knows, as `s3://bucket/prefix`."""
    if "://" in address:
        # An installation that keeps files in a folder needs neither fsspec nor what talks to S3.
        from service.artifacts.objects import ObjectStore

        return ObjectStore(address)
    from service.artifacts.folder import FolderStore

    return FolderStore(Path(address))
