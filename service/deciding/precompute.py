"""Decide ahead of the asking: after a release, for every report that asked before; a process beside the workers.

A release goes live at once and workers decide what they are asked; this process makes the file that spares them, in
which a lookup is a read. 100,000 reports take minutes of CPU, far too long to hold a release back for.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Final

import structlog
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import Session

from policies.errors import NnfleetError
from policies.fingerprint import Fingerprint, fingerprint
from policies.report import parse_report
from service import logs
from service.deciding.decision_body import signed_body
from service.deciding.decision_file import DecisionFile, DecisionFileWriter
from service.deciding.local_copy import LocalCopy
from service.deciding.signing import SigningKeys
from service.releasing.release_content import PackedRelease, ReleaseContent
from service.releasing.releases import ReleaseWatcher
from service.settings import Settings
from service.store import reports
from service.store.engine import make_engine

log = structlog.get_logger(__name__)

REPORTS_A_READ: Final = 500
COLLECTING_S: Final = 10
"""How long requests that were not ready are collected before the file is made anew."""
REST: Final = 19
"""Rests this many times as long as it worked: the file is made whole each time, and costs at most a twentieth of a core."""
NICENESS: Final = 10
"""Lookups come first."""


def precompute(engine: Engine, local: LocalCopy, content: ReleaseContent, keys: SigningKeys | None) -> int:
    """Make the decision file for a release, where there is anything new to put in; how many decisions it decided.

    Holds what the present file holds and what was asked for since. Reports that are not stored, and apps that are not in
    the release, are left out.
    """
    asked = local.take_asked()
    present = local.decisions()
    kept = set(present.pairs()) if present else set()
    current = present if present and present.release == content.number else None
    missing = asked - kept if current else asked | kept
    if not missing:
        local.forget_taken()
        return 0
    decided = 0
    with DecisionFileWriter(local.decisions_file, content.number) as file:
        if current:
            _copy(current, kept, file)
        for app, report_id, facts in _askers(engine, missing, content):
            made = signed_body(content, app, report_id, facts, keys)
            file.add(app, report_id, made.body, made.signature)
            decided += 1
    local.forget_taken()
    log.info("decisions-ready", release=content.number, decided=decided, kept=len(kept) if current else 0)
    return decided


def _copy(source: DecisionFile, pairs: Iterable[tuple[str, str]], file: DecisionFileWriter) -> None:
    for app, report_id in pairs:
        ready = source.get(app, report_id)
        if ready is not None:
            file.add(app, report_id, ready.body, ready.signature)


def _askers(
    engine: Engine, pairs: Iterable[tuple[str, str]], content: ReleaseContent
) -> Iterator[tuple[str, str, Fingerprint]]:
    """(app, report id, fingerprint) of those that can be decided, a bounded number of reports in memory at a time."""
    apps: dict[str, list[str]] = {}
    for app, report_id in pairs:
        if app in content.documents:
            apps.setdefault(report_id, []).append(app)
    report_ids = sorted(apps)
    for start in range(0, len(report_ids), REPORTS_A_READ):
        with Session(engine) as session:
            bodies = reports.report_bodies(session, report_ids[start : start + REPORTS_A_READ])
        for report_id, body in bodies.items():
            facts = fingerprint(parse_report(body))
            for app in apps[report_id]:
                yield app, report_id, facts


class Precomputer:
    """Follows releases, and makes the file anew after each, and when decisions were asked for that it lacks."""

    def __init__(self, engine: Engine, local: LocalCopy, keys: SigningKeys | None) -> None:
        self._engine = engine
        self._local = local
        self._keys = keys
        self._content: ReleaseContent | None = None
        self._news = threading.Event()

    def released(self, content: ReleaseContent, packed: PackedRelease) -> None:  # noqa: ARG002 -- the workers keep the bytes
        """Work for this release from now on."""
        self._content = content
        self._news.set()

    def woken(self) -> None:
        """Nothing: requests are collected for longer than the watcher sleeps."""

    def run(self) -> None:
        """Work until the process is ended, or the one that started it is gone."""
        parent, pause_s = os.getppid(), float(COLLECTING_S)
        while os.getppid() == parent:
            self._news.wait(pause_s)  # a release does not wait
            self._news.clear()
            started_s = time.monotonic()
            if self._content is not None:
                self._once(self._content)
            pause_s = max(COLLECTING_S, REST * (time.monotonic() - started_s))

    def _once(self, content: ReleaseContent) -> None:
        try:
            precompute(self._engine, self._local, content, self._keys)
        except (SQLAlchemyError, OSError, NnfleetError) as error:
            log.warning("precompute-failed", release=content.number, error=str(error))


def main() -> None:
    """The process: set up from the environment, ended by a signal."""
    settings = Settings.from_environment()
    logs.configure(settings.log_level)
    if settings.local_folder is None:
        raise SystemExit("NNFLEET_LOCAL_FOLDER says where ready decisions go; it is not set")
    os.nice(NICENESS)
    engine = make_engine(settings)
    keys = SigningKeys.read(settings.signing_keys) if settings.signing_keys else None
    precomputer = Precomputer(engine, LocalCopy(settings.local_folder), keys)
    ReleaseWatcher(engine, settings, precomputer).start()
    precomputer.run()


if __name__ == "__main__":
    main()
