"""Decisions by report, ready as bytes. A hit touches no SQL, no Flask and no JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Lock
from typing import Final

from sqlalchemy import Engine
from sqlmodel import Session

from policies.errors import UnknownApp, UnknownRelease, UnknownReport
from policies.fingerprint import Fingerprint, fingerprint
from policies.report import parse_report
from service.deciding.answer import Answer, answer_of
from service.deciding.decision_body import signed_body
from service.deciding.decision_file import DecisionFile
from service.deciding.local_copy import LocalCopy
from service.deciding.signing import SigningKeys
from service.releasing.release_content import ReleaseContent
from service.releasing.releases import load
from service.store import reports

OVERHEAD_BYTES: Final = 1_200
"""What an entry costs beside its body: keys, headers, the dictionary. Measured with tracemalloc, rounded up."""

MADE_ANSWERS_KEPT: Final = 256
"""Answers from the file that a worker keeps made, some 6 kB each: those of the commonest reports. Four times as many
are more than a cache of the CPU holds; every answer would then be written to memory that is in none."""

FINGERPRINTS_KEPT: Final = 512
"""Fingerprints a worker remembers from release to release, some 20 kB each."""


@dataclass(slots=True)
class _Live:
    """One release, the answers computed for it, and the file of those that were ready before they were asked for.

    Replaced whole, never changed to another release.
    """

    content: ReleaseContent
    answers: dict[tuple[str, str], Answer] = field(default_factory=dict)
    size_bytes: int = 0
    file: DecisionFile | None = None
    read: Callable[[str, str], Answer | None] = field(init=False)

    def __post_init__(self) -> None:
        # Most phones are of few classes: their answers are made from the file once.
        self.read = lru_cache(MADE_ANSWERS_KEPT)(self._read)

    def _read(self, app: str, report_id: str) -> Answer | None:
        stored = self.file.get(app, report_id) if self.file else None
        if stored is None:
            return None
        return answer_of(stored.body, stored.body_sha256, stored.signature, app, self.content.number)


class Lookup:
    """The decisions of the live release. Threads share it; `swap` is one assignment, so no answer mixes releases.

    `cache_bytes` bounds what a worker keeps in its own memory. `local`: where ready decisions come from and what was not
    ready is noted; without it every worker computes for itself.
    """

    def __init__(
        self, engine: Engine, cache_bytes: int, keys: SigningKeys | None = None, local: LocalCopy | None = None
    ) -> None:
        self._engine = engine
        self._cache_bytes = cache_bytes
        self._keys = keys
        self._local = local
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

    def adopt(self, file: DecisionFile) -> None:
        """Take ready decisions from this file, where it follows the live release."""
        with self._changing:
            live = self._live
            if live is not None and file.release == live.content.number:
                self._live = _Live(live.content, file=file)

    def hit(self, app: str, report_id: str) -> Answer | None:
        """The answer if it is ready."""
        live = self._live
        if live is None:
            return None
        if live.file is not None and (answer := live.read(app, report_id)) is not None:
            return answer
        return live.answers.get((app, report_id))

    def answer(self, app: str, report_id: str) -> Answer:
        """The answer, computed where it is not ready yet.

        Raises UnknownRelease, UnknownApp or UnknownReport.
        """
        ready = self.hit(app, report_id)
        if ready is not None:
            return ready
        live = self._live or self._first()
        facts = self.fingerprint_of(report_id, live.content, app)
        made = signed_body(live.content, app, report_id, facts, self._keys)
        answer = answer_of(made.body, made.body_sha256, made.signature, app, live.content.number)
        self._keep(live, (app, report_id), answer)
        return answer

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
        """Remember the answer, and that it was not ready; the longest kept ones leave when the bound is reached."""
        with self._changing:
            if key in live.answers:  # another thread computed the same bytes meanwhile
                return
            live.size_bytes += len(made.body) + OVERHEAD_BYTES
            live.answers[key] = made
            while live.size_bytes > self._cache_bytes and len(live.answers) > 1:
                oldest = next(iter(live.answers))
                live.size_bytes -= len(live.answers.pop(oldest).body) + OVERHEAD_BYTES
        if self._local is not None:
            self._local.note_asked(*key)
