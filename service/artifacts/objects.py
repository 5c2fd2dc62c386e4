"""Artifacts in an object store, by fsspec: `s3://…` with the extra `s3`. An object appears whole or not at all."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import fsspec

from service.artifacts.store import Kept, UnknownArtifact, shard

READ_AHEAD_BYTES: Final = 4 * 1024 * 1024


class ObjectStore:
    """Who may read and write, and where the service is, comes from the environment that botocore reads (`AWS_…`)."""

    def __init__(self, url: str) -> None:
        # Other hosts write here too: what was listed once says nothing about now.
        self._fs, self._root = fsspec.url_to_fs(url, use_listings_cache=False)

    @property
    def incoming(self) -> Path:
        """Where files wait on this machine."""
        return Path(tempfile.gettempdir())

    def size_bytes(self, sha256: str) -> int:
        """The object's size; raises UnknownArtifact."""
        return int(self._info(sha256)["size"])

    def open(self, sha256: str) -> BinaryIO:
        """The object, fetched in pieces as it is read; raises UnknownArtifact."""
        size = self.size_bytes(sha256)
        opened = self._fs.open(self._path(sha256), "rb", block_size=READ_AHEAD_BYTES, cache_type="readahead", size=size)
        return cast(BinaryIO, opened)

    def keep(self, sha256: str, file: Path) -> None:
        """Upload the file under its digest."""
        self._fs.put_file(str(file), self._path(sha256))

    def remove(self, sha256: str) -> None:
        """Let the object go."""
        try:
            self._fs.rm_file(self._path(sha256))
        except FileNotFoundError:
            return

    def kept(self) -> Iterator[Kept]:
        """All objects, by digest."""
        for path, facts in sorted(self._fs.find(self._root, detail=True).items()):
            kept_at = facts.get("LastModified") or self._fs.modified(path)
            yield Kept(path.rpartition("/")[2], int(facts["size"]), kept_at)

    def _info(self, sha256: str) -> dict[str, Any]:
        try:
            found: dict[str, Any] = self._fs.info(self._path(sha256))
        except FileNotFoundError as error:
            raise UnknownArtifact(f"no file of the digest {sha256} is kept here", field="sha256") from error
        return found

    def _path(self, sha256: str) -> str:
        return f"{self._root}/{shard(sha256)}"
