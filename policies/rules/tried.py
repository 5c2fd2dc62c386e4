"""What became of each rule and deny that was asked: lines of an explanation."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from policies.situation import Situation
from policies.vocabulary import Workload


class Fate(StrEnum):
    """What became of it. Codes are stable."""

    CHOSE = "chose"
    TOOK_AWAY = "took-away"
    PASSED_OVER = "passed-over"
    NOT_MATCHED = "not-matched"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class TriedRule:
    """A rule that was asked about a model. `unknown` are the names that it needed and nobody knows.

    `workload` and `situation` are those it chose for or was passed over for, `because` says why; None where it did not
    match, and a `situation` of None for any.
    """

    id: str
    fate: Fate
    workload: Workload | None = None
    because: str = ""
    unknown: tuple[str, ...] = ()
    situation: Situation | None = None


@dataclass(frozen=True, slots=True)
class TriedDeny:
    """A deny whose cohort the device is in, asked about a model's arms: those it took away, and what was unknown."""

    id: str
    fate: Fate
    arms: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
