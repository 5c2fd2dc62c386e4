"""Model files by their digest: from a folder, else from the server, never one whose bytes are not what the decision names."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import httpx

from nnfleet_client import ArmFailed
from nnfleet_litert.bounded import DRAFT, finish, prune, touch

MOST_BYTES: Final = 1024 * 1024 * 1024
_CHUNK: Final = 1024 * 1024


class Artifacts:
    """Files that were fetched lie in `folder`, named by their digest. `server` is None where nothing may be fetched.

    `local` is a folder of model files that are used where their digest fits, whatever they are called. Of fetched ones at most
    `most_bytes` stay: releases come and go, and what was used longest ago goes first.
    """

    def __init__(
        self,
        folder: Path,
        server: str | None,
        http: httpx.Client,
        local: Path | None = None,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._server = server
        self._http = http
        self._local = {_digest(path): path for path in sorted(local.glob("*"))} if local else {}

    def path(self, variant: Mapping[str, Any]) -> Path:
        """The file of a variant, as the document states it (`sha256`, `size_bytes`, `url`).

        Raises ArmFailed with the phase `load` where it cannot be had, or is not what it should be.
        """
        sha256 = str(variant["sha256"])
        if sha256 in self._local:
            return self._local[sha256]
        kept = self._folder / sha256
        if kept.exists():
            touch(kept)
            return kept
        if self._server is None or not variant.get("url"):
            raise ArmFailed("load", "artifact-not-here")
        try:
            self._fetch(f"{self._server.rstrip('/')}{variant['url']}", sha256, int(variant["size_bytes"]))
        except OSError as error:
            raise ArmFailed("load", "artifact-disk") from error  # full, read-only: no fault of a driver
        return kept

    def _fetch(self, url: str, sha256: str, size_bytes: int) -> None:
        """Write the file under its digest, whole or not at all."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=self._folder, suffix=DRAFT, delete=False) as partial:
            try:
                for chunk in self._chunks(url, size_bytes):
                    partial.write(chunk)
                partial.close()
                if _digest(Path(partial.name)) != sha256:
                    raise ArmFailed("load", "artifact-digest-mismatch")
                finish(Path(partial.name), self._folder / sha256)
            finally:
                Path(partial.name).unlink(missing_ok=True)
        prune(self._folder, self._most_bytes)

    def _chunks(self, url: str, size_bytes: int) -> Iterator[bytes]:
        left = size_bytes
        try:
            with self._http.stream("GET", url) as answer:
                if answer.status_code != httpx.codes.OK:
                    raise ArmFailed("load", f"artifact-http-{answer.status_code}")
                for chunk in answer.iter_bytes(_CHUNK):
                    left -= len(chunk)
                    if left < 0:
                        raise ArmFailed("load", "artifact-too-large")
                    yield chunk
        except httpx.HTTPError as error:
            raise ArmFailed("load", "artifact-network") from error


def _digest(path: Path) -> str:
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
