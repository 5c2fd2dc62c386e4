"""What a host keeps of the live release in a folder, so that lookups outlive the database and a restart.

release.nnfleet      the newest release that a worker of this host has seen
decisions.nnfleet    decisions ready to be sent (`service.deciding.decision_file`)
asked.log            who asked for a decision that was not ready, a line each; asked.taken: those being worked on
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import structlog

from service.deciding.decision_file import DecisionFile, UnreadableFile
from service.releasing.release_content import PackedRelease, ReleaseContent

log = structlog.get_logger(__name__)

_ASKED_BYTES: Final = 64 * 1024 * 1024
"""A log this long is not written on: nobody works on it."""


class LocalCopy:
    """The folder. Every worker of a host shares it; each file is put in its place whole.

    It helps to answer and is never needed to: where it cannot be written or read, that is logged, and nothing else.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.decisions_file: Final = folder / "decisions.nnfleet"
        self._release_file: Final = folder / "release.nnfleet"
        self._asked: Final = folder / "asked.log"
        self._taken: Final = folder / "asked.taken"
        self._seen: tuple[object, ...] | None = None
        self._told = False

    def keep_release(self, packed: PackedRelease) -> None:
        """Keep the release. Every worker does, with the same bytes."""
        head = {
            "number": packed.number,
            "published_at": packed.published_at.isoformat(),
            "quarantines": list(packed.quarantines),
            "content_bytes": len(packed.content),
            "share_bp": packed.share_bp,
        }
        temporary = self._release_file.with_name(f"{self._release_file.name}.{os.getpid()}")
        with self._borne(self._release_file):
            temporary.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(json.dumps(head).encode() + b"\n" + packed.content + (packed.candidate or b""))
            temporary.replace(self._release_file)

    @contextmanager
    def _borne(self, file: Path) -> Iterator[None]:
        """A disk that is full or a folder that is gone is told once, until writing succeeds again."""
        try:
            yield
            self._told = False
        except OSError as error:
            if not self._told:
                log.warning("local-copy-unwritable", file=file.name, error=str(error))
            self._told = True

    def release(self) -> ReleaseContent | None:
        """The release kept last; None where there is none, or none that this installation can read."""
        try:
            line, _, contents = self._release_file.read_bytes().partition(b"\n")
            return _packed(json.loads(line), contents).unpacked()
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            log.warning("local-copy-unreadable", file=self._release_file.name, error=str(error))
            return None

    def decisions(self) -> DecisionFile | None:
        """The decision file, open; None where there is none, or none that can be read."""
        try:
            return DecisionFile(self.decisions_file)
        except FileNotFoundError:
            return None
        except (OSError, UnreadableFile) as error:
            log.warning("local-copy-unreadable", file=self.decisions_file.name, error=str(error))
            return None

    def new_decisions(self, release: int | None) -> DecisionFile | None:
        """The decision file, where it or the release that is served is another one than at the last call."""
        try:
            stat = self.decisions_file.stat()
        except OSError:
            return None
        seen = (stat.st_ino, stat.st_mtime_ns, release)
        if seen == self._seen:
            return None
        self._seen = seen
        return self.decisions()

    def note_asked(self, app: str, report_id: str) -> None:
        """Note that this decision was not ready. Lines are short, so appends of several workers do not mix."""
        with self._borne(self._asked), self._asked.open("ab", buffering=0) as file:
            if file.tell() < _ASKED_BYTES:
                file.write(f"{app} {report_id}\n".encode())

    def take_asked(self) -> set[tuple[str, str]]:
        """(app, report id) of all that was noted. They are forgotten when `forget_taken` is called, not before."""
        if not self._taken.exists() and self._asked.exists():
            self._asked.replace(self._taken)
        lines = self._taken.read_text("utf-8").splitlines() if self._taken.exists() else []
        pairs = (line.partition(" ") for line in lines)
        return {(app, report_id) for app, _, report_id in pairs if report_id}

    def forget_taken(self) -> None:
        """What was taken is in the decision file now."""
        self._taken.unlink(missing_ok=True)


def _packed(head: dict[str, Any], contents: bytes) -> PackedRelease:
    control, candidate = contents[: head["content_bytes"]], contents[head["content_bytes"] :]
    published_at = datetime.fromisoformat(head["published_at"])
    return PackedRelease(
        head["number"], published_at, control, head["quarantines"], candidate or None, head["share_bp"]
    )
