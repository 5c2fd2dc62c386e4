"""The last good document: a store only applies. It never sends, and nothing but a better document replaces one."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final, Self

from nnfleet_client.document import DecisionDocument, UnreadableDocument, parse_document
from nnfleet_client.files import read_or_none, write_atomically
from nnfleet_client.headers import sendable

CACHE_FILE: Final = "decision.json"


class Reason(StrEnum):
    """Where an answer comes from."""

    FRESH = "fresh"
    """From a document fetched within its max-age."""
    NOT_MODIFIED = "not_modified"
    """From a document the server confirmed (304) within its max-age."""
    STALE = "stale"
    """From the last good document, past its max-age and before its expiry."""
    DEFAULT = "default"
    """From the app's bundled default."""


@dataclass(frozen=True, slots=True)
class Held:
    """A good document with what HTTP said about it. `confirmed_at_s` is the wall clock of the last 200 or 304."""

    document: DecisionDocument
    body: bytes
    etag: str | None
    fresh_for_s: float
    confirmed_at_s: float
    confirmed_by: Reason


@dataclass(frozen=True, slots=True)
class Standing:
    """What the store can offer at a moment: the document (None: none that may be used), why, and what is wrong."""

    reason: Reason
    document: DecisionDocument | None
    error_code: str | None = None


class DecisionStore:
    """Holds the last good document of one app for one report.

    A document's hard end is its `expires_at`. It is kept past that, unused, because the highest release ever seen
    must not be forgotten. With a folder, the document survives a restart; one that was fetched for another report
    (an update changed the driver) is not taken up, its release number is.
    """

    def __init__(self, app: str, report_id: str, folder: Path | None = None) -> None:
        self._app = app
        self._report_id = report_id
        self._path = None if folder is None else folder / CACHE_FILE
        self._lock = threading.Lock()
        self._held: Held | None = None
        self._highest_release = 0
        self._load()

    @property
    def held(self) -> Held | None:
        """The last good document, whatever its age; None before the first one."""
        return self._held

    def etag(self, now_s: float) -> str | None:
        """What to ask `If-None-Match` with. None for an empty store and for an expired document: a 304 would not help."""
        held = self._held
        return held.etag if held is not None and now_s < held.document.expires_at_s else None

    def apply(self, body: bytes, etag: str | None, fresh_for_s: float, now_s: float) -> str | None:
        """Take up a fetched document, or say why not; then the last good one stays.

        Codes: `unreadable-document`, `unknown-schema`, `other-app`, `lower-release`, `expired-document`.
        """
        try:
            document = parse_document(body)
        except UnreadableDocument as unreadable:
            return unreadable.code
        with self._lock:
            refusal = self._refusal(document, now_s)
            if refusal is None:
                self._held = Held(document, body, etag, fresh_for_s, now_s, Reason.FRESH)
                self._highest_release = document.release
                self._save(self._held)
        return refusal

    def confirm(self, fresh_for_s: float, now_s: float) -> str | None:
        """Take up a 304: the held document is fresh again. `nothing-to-confirm` where nothing was asked to be confirmed."""
        with self._lock:
            # An expired document stays expired: to call that a success would have it asked for again at once, for ever.
            if self._held is None or now_s >= self._held.document.expires_at_s:
                return "nothing-to-confirm"
            self._held = replace(
                self._held, fresh_for_s=fresh_for_s, confirmed_at_s=now_s, confirmed_by=Reason.NOT_MODIFIED
            )
        return None

    def standing(self, now_s: float) -> Standing:
        """What may be used now. An empty store: `no-document`; a document past its hard end: `expired-document`."""
        held = self._held
        if held is None:
            return Standing(Reason.DEFAULT, None, "no-document")
        if now_s >= held.document.expires_at_s:
            return Standing(Reason.DEFAULT, None, "expired-document")
        if is_fresh(held, now_s):
            return Standing(held.confirmed_by, held.document)
        return Standing(Reason.STALE, held.document)

    def _refusal(self, document: DecisionDocument, now_s: float) -> str | None:
        if document.app != self._app:
            return "other-app"
        if document.release < self._highest_release:
            return "lower-release"
        if document.expires_at_s <= now_s:
            return "expired-document"
        return None

    def _save(self, held: Held) -> None:
        if self._path is not None:
            write_atomically(self._path, _Cached.of(held, self._report_id).to_bytes())

    def _load(self) -> None:
        content = None if self._path is None else read_or_none(self._path)
        if content is None:
            return
        try:
            cached = _Cached.from_bytes(content)
            document = parse_document(cached.body.encode())
        except (UnreadableDocument, ValueError, TypeError, KeyError, RecursionError):
            return  # a damaged cache is an empty cache
        if document.app != self._app:
            return
        self._highest_release = document.release
        if cached.report_id == self._report_id:
            self._held = Held(
                document, cached.body.encode(), cached.etag, cached.fresh_for_s, cached.confirmed_at_s, Reason.FRESH
            )


def is_fresh(held: Held, now_s: float) -> bool:
    """Within max-age of its last confirmation. A wall clock that went back makes it not fresh: asking again is safe."""
    return 0 <= now_s - held.confirmed_at_s < held.fresh_for_s


@dataclass(frozen=True, slots=True)
class _Cached:
    """The cache file: what Held holds, and for which report."""

    report_id: str
    etag: str | None
    fresh_for_s: float
    confirmed_at_s: float
    body: str

    @classmethod
    def of(cls, held: Held, report_id: str) -> Self:
        return cls(report_id, held.etag, held.fresh_for_s, held.confirmed_at_s, held.body.decode())

    def to_bytes(self) -> bytes:
        return json.dumps({name: getattr(self, name) for name in self.__slots__}).encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        raw = json.loads(content)
        # A newer SDK may have written more: after a downgrade the document is as good as before.
        cached = cls(**{name: raw[name] for name in cls.__slots__})
        texts = isinstance(cached.report_id, str) and isinstance(cached.body, str)
        numbers = isinstance(cached.fresh_for_s, float | int) and isinstance(cached.confirmed_at_s, float | int)
        if not texts or not numbers or not isinstance(cached.etag, str | None):
            raise TypeError("a cache file of another shape")
        return replace(cached, etag=sendable(cached.etag or ""))
