"""Arms this phone does not try again: dead in this process, or suspected of having killed an earlier one."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from nnfleet_client.files import read_or_none, write_atomically
from nnfleet_client.plan import Rung

SUSPECTS_FILE: Final = "suspects.json"
HOLD_S: Final = 86_400.0
MOST_HOLD_S: Final = 30 * 86_400.0
CLOCK_SLACK_S: Final = 60.0
LOOP_CRASHES: Final = 3
LOOP_HOLD_S: Final = 600.0
# What NNAPI and binder say when the driver's process is gone: every model on that accelerator is affected.
DRIVER_DEATHS: Final = frozenset({"ANEURALNETWORKS_DEAD_OBJECT", "DEAD_OBJECT"})


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A start that never ended, and how often in a row; held until a wall-clock moment.

    While it may still end it is `open`, and knows its mark and until when the one before it was held.
    """

    crashes: int
    until_s: float
    open: bool = False
    before_until_s: float = 0.0
    attempt_id: str | None = None

    def holds(self, now_s: float) -> bool:
        """True until its end. One that ends later than it can have been meant to was written before the clock was set."""
        return now_s < self.until_s <= now_s + hold_s(self.crashes) + CLOCK_SLACK_S

    def holds_the_last(self, now_s: float) -> bool:
        """True of an arm that ends one process after the other: an app that opens without its model is better than none."""
        since_s = now_s - (self.until_s - hold_s(self.crashes))
        loop_s = min(HOLD_S, LOOP_HOLD_S * 2.0 ** min(self.crashes - LOOP_CRASHES, 10))
        return self.crashes >= LOOP_CRASHES and -CLOCK_SLACK_S <= since_s < loop_s

    def closed(self) -> Suspicion:
        """The same, of a start that will have no end."""
        return Suspicion(self.crashes, self.until_s)

    def before(self) -> Suspicion | None:
        """What was held against the arm before this start."""
        return Suspicion(self.crashes - 1, self.before_until_s) if self.crashes > 1 else None

    def to_json(self) -> list[Any]:
        """Four values of an open one, two of others."""
        return [self.crashes, self.until_s, *([self.before_until_s, self.attempt_id] if self.open else [])]

    @classmethod
    def from_json(cls, raw: Any) -> Suspicion:
        """Raises TypeError or ValueError for anything else."""
        crashes, until_s, *rest = raw
        if not rest:
            return cls(int(crashes), float(until_s))
        before_until_s, attempt_id = rest
        return cls(int(crashes), float(until_s), True, float(before_until_s), attempt_id and str(attempt_id))


def hold_s(crashes: int) -> float:
    """How long an arm is kept off after so many starts in a row that never ended, in seconds."""
    return min(MOST_HOLD_S, HOLD_S * 2.0 ** min(crashes - 1, 10))


class Suspects:
    """Remembers failures, in this process, and unfinished starts, across processes.

    An arm that failed in this process stays out for its lifetime; a dead driver takes every arm on it along. A
    start that was never followed by its end (the process died) keeps its arm out for a day, doubled each time in a
    row, at most 30 days: a phone may reboot once, not every morning. The last arm of a ladder, below which there is
    nothing, is kept off only where three starts in a row never ended, and then for ten minutes, doubled likewise, at
    most a day. With a folder the starts are on disk before
    the driver is touched; without one they live as long as this object.

    `ended_from_outside` says that the process before was: its unfinished starts are held against nobody, and their marks,
    `forgiven`, are not to be sent.
    """

    def __init__(self, report_id: str, folder: Path | None = None, ended_from_outside: bool = False) -> None:
        self._report_id = report_id
        self._path = None if folder is None else folder / SUSPECTS_FILE
        self._lock = threading.Lock()
        self._failed: set[str] = set()
        self._dead_drivers: set[tuple[str, str]] = set()
        left = self._load()
        unfinished = {key: held for key, held in left.items() if held.open}
        self.forgiven = [held.attempt_id for held in unfinished.values() if ended_from_outside and held.attempt_id]
        settled = {key: held.before() if ended_from_outside else held.closed() for key, held in unfinished.items()}
        self._suspicions = {key: held for key, held in (left | settled).items() if held is not None}
        if unfinished:
            self._save()  # whatever ends this process, it is not what ended that one
        # Starts going on right now, in other threads too: no reason to suspect, as long as they go on.
        self._running: Counter[str] = Counter()

    def excludes(self, model: str, rung: Rung, now_s: float, last: bool) -> bool:
        """True where this rung, the last of its ladder or not, is to be passed over at this wall-clock moment."""
        key = self._key(model, rung)
        suspicion = None if self._running[key] else self._suspicions.get(key)
        if last:
            return suspicion is not None and suspicion.holds_the_last(now_s)
        suspected = suspicion is not None and suspicion.holds(now_s)
        return suspected or key in self._failed or _driver(rung) in self._dead_drivers

    def started(self, model: str, rung: Rung, now_s: float, attempt_id: str | None = None) -> None:
        """Note a start before it is made. Until `ended`, the next process suspects the arm. `attempt_id` is its mark's."""
        key = self._key(model, rung)
        with self._lock:
            self._running[key] += 1
            if self._running[key] == 1:
                before = self._suspicions.get(key)
                crashes, before_until_s = (1, 0.0) if before is None else (before.crashes + 1, before.until_s)
                until_s = now_s + hold_s(crashes)
                self._suspicions[key] = Suspicion(crashes, until_s, True, before_until_s, attempt_id)
                self._forget_old_ones(now_s)
                self._save()

    def ended(self, model: str, rung: Rung, failure: str | None) -> None:
        """Note that a start came to an end the process survived; with a failure (`phase:code`) the arm stays out."""
        key = self._key(model, rung)
        with self._lock:
            self._running[key] -= 1
            if not self._running[key]:
                self._suspicions.pop(key, None)
                self._save()
            if failure is not None:
                self._failed.add(key)
                self._condemn_driver(rung, failure)

    def withdrawn(self, model: str, rung: Rung) -> None:
        """Note that a start was called off from outside: what was held against the arm before still is, and nothing more."""
        key = self._key(model, rung)
        with self._lock:
            self._running[key] -= 1
            held = None if self._running[key] else self._suspicions.pop(key, None)
            if held is not None:
                before = held.before()
                self._suspicions |= {} if before is None else {key: before}
                self._save()

    def abandoned(self, model: str, rung: Rung) -> None:
        """Note that a start will have no end: from here on the arm is under suspicion in this process too."""
        key = self._key(model, rung)
        with self._lock:
            self._running[key] -= 1
            if key in self._suspicions and not self._running[key]:
                self._suspicions[key] = self._suspicions[key].closed()
                self._save()

    def _forget_old_ones(self, now_s: float) -> None:
        """Arms of documents and drivers that are long gone would stay in the file for ever."""
        recent = {key: held for key, held in self._suspicions.items() if now_s < held.until_s + MOST_HOLD_S}
        self._suspicions = recent

    def _condemn_driver(self, rung: Rung, failure: str) -> None:
        driver = _driver(rung)
        if driver is not None and failure.partition(":")[2] in DRIVER_DEATHS:
            self._dead_drivers.add(driver)

    def _key(self, model: str, rung: Rung) -> str:
        # Another driver (the report), another file or other settings: another arm, which deserves its own chance.
        parts = [self._report_id, model, rung.arm_id, dict(rung.arm)]
        return sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()

    def _save(self) -> None:
        if self._path is not None:
            raw = {key: held.to_json() for key, held in self._suspicions.items()}
            write_atomically(self._path, json.dumps(raw).encode())

    def _load(self) -> dict[str, Suspicion]:
        content = None if self._path is None else read_or_none(self._path)
        try:
            raw: Mapping[str, Any] = {} if content is None else json.loads(content)
            return {key: Suspicion.from_json(held) for key, held in raw.items()}
        except (ValueError, TypeError, AttributeError):
            return {}  # a damaged file suspects nobody


def _driver(rung: Rung) -> tuple[str, str] | None:
    accelerator = rung.arm.get("accelerator")
    return (str(rung.arm.get("delegate")), str(accelerator)) if accelerator else None
