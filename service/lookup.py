"""Decisions by report, ready as bytes. A hit touches no SQL, no Flask and no JSON."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

from sqlalchemy import Engine
from sqlmodel import Session

from policies.errors import UnknownApp, UnknownRelease, UnknownReport
from policies.fingerprint import Fingerprint, fingerprint
from policies.report import parse_report
from service.decision_body import decision_body
from service.release_content import ReleaseContent
from service.releases import load
from service.store import reports

CACHE_CONTROL: Final = "public, max-age=60, stale-while-revalidate=86400, stale-if-error=604800"
OVERHEAD_BYTES: Final = 600
"""What an entry costs beside its body: keys, headers, the dictionary. Measured with tracemalloc, rounded up."""

FINGERPRINTS_KEPT: Final = 2_048
"""Fingerprints a worker remembers from release to release, some 20 kB each."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A decision document as it goes out: with `headers`, or only with `validators` where the client has it.

    `etag` is strong: a digest of the bytes.
    """

    body: bytes
    etag: str
    headers: tuple[tuple[str, str], ...]
    validators: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class _Live:
    """One release and the answers computed for it. Replaced whole, never changed to another release."""

    content: ReleaseContent
    answers: dict[tuple[str, str], Answer] = field(default_factory=dict)
    size_bytes: int = 0


class Lookup:
    """The decisions of the live release. Threads share it; `swap` is one assignment, so no answer mixes releases."""

    def __init__(self, engine: Engine, cache_bytes: int) -> None:
        self._engine = engine
        self._cache_bytes = cache_bytes
        self._live: _Live | None = None
        # A report never changes: its fingerprint outlives releases.
        self._fingerprints: dict[str, Fingerprint] = {}
        self._changing = Lock()

    @property
    def content(self) -> ReleaseContent:
        """The live release; raises UnknownRelease before the first."""
        if self._live is None:
            raise UnknownRelease("nothing has been published yet")
        return self._live.content

    @property
    def release(self) -> int | None:
        """The number of the live release, None before the first."""
        return self._live.content.number if self._live else None

    def swap(self, content: ReleaseContent) -> None:
        """Serve this release from now on."""
        with self._changing:
            self._live = _Live(content)

    def hit(self, app: str, report_id: str) -> Answer | None:
        """The answer if it is ready."""
        live = self._live
        return live.answers.get((app, report_id)) if live else None

    def answer(self, app: str, report_id: str) -> Answer:
        """The answer, computed where it is not ready yet.

        Raises UnknownRelease, UnknownApp or UnknownReport.
        """
        ready = self.hit(app, report_id)
        if ready is not None:
            return ready
        live = self._live or self._first()
        made = _answer(live.content, app, self.fingerprint_of(report_id, live.content, app))
        self._keep(live, (app, report_id), made)
        return made

    def _first(self) -> _Live:
        """The newest release, for a worker that is asked before it has heard of any."""
        content = load(self._engine)
        if content is None:
            raise UnknownRelease("nothing has been published yet")
        with self._changing:  # a newer one may have been swapped in meanwhile: it stays
            self._live = self._live or _Live(content)
            return self._live

    def fingerprint_of(self, report_id: str, content: ReleaseContent, app: str) -> Fingerprint:
        """The fingerprint of a stored report, canonicalised by today's tables."""
        if app not in content.documents:
            raise UnknownApp(f"release {content.number} has no app {app!r}", field="app")
        return self.stored_fingerprint(report_id)

    def stored_fingerprint(self, report_id: str) -> Fingerprint:
        """The fingerprint of a stored report, whoever asks; raises UnknownReport."""
        known = self._fingerprints.get(report_id)
        if known is not None:
            return known
        with Session(self._engine) as session:
            body = reports.report_body(session, report_id)
        if body is None:
            raise UnknownReport("upload the report first: PUT /v1/reports/{report_id}", field="report_id")
        facts = fingerprint(parse_report(body))
        with self._changing:
            self._fingerprints[report_id] = facts
            if len(self._fingerprints) > FINGERPRINTS_KEPT:
                del self._fingerprints[next(iter(self._fingerprints))]
        return facts

    def _keep(self, live: _Live, key: tuple[str, str], made: Answer) -> None:
        """Remember the answer; the longest kept ones leave when the bound is reached."""
        with self._changing:
            if key in live.answers:  # another thread computed the same bytes meanwhile
                return
            live.size_bytes += len(made.body) + OVERHEAD_BYTES
            live.answers[key] = made
            while live.size_bytes > self._cache_bytes and len(live.answers) > 1:
                oldest = next(iter(live.answers))
                live.size_bytes -= len(live.answers.pop(oldest).body) + OVERHEAD_BYTES


def _answer(content: ReleaseContent, app: str, facts: Fingerprint) -> Answer:
    body = decision_body(content, app, facts)
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    validators = (("ETag", etag), ("Cache-Control", CACHE_CONTROL))
    headers = (
        ("Content-Type", "application/json"),
        ("Content-Length", str(len(body))),
        *validators,
        ("Surrogate-Key", f"release-{content.number} app-{app}"),
    )
    return Answer(body, etag, headers, validators)


def not_modified(if_none_match: str, etag: str) -> bool:
    """Whether a client's `If-None-Match` (a list, weak forms, or `*`) names this entity."""
    if if_none_match.strip() == "*":
        return True
    return any(tag.strip().removeprefix("W/") == etag for tag in if_none_match.split(","))
