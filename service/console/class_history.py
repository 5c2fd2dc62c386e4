"""The classes that phones of one name were in, as updates changed them, each with what changed from the one before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from flask import request
from sqlmodel import Session

from policies.fingerprint import Fingerprint
from policies.fingerprint_changes import FingerprintChanges, fingerprint_changes
from service.console.paging import Window, stated_number
from service.store import reports
from service.store.reports import ClassOfPhone

PAGE_SIZE: Final = 8


@dataclass(frozen=True, slots=True)
class Era:
    """A class; `before` is the one that was seen before it, `changes` what is different since; None for the first."""

    of: ClassOfPhone
    before: str | None
    changes: FingerprintChanges | None


@dataclass(frozen=True, slots=True)
class History:
    """A page of the eras, the newest first."""

    eras: tuple[Era, ...]
    window: Window


def history(session: Session, facts: Fingerprint) -> History:
    """The history of phones named as in `facts`. Two queries."""
    classes = reports.classes_of_phone(session, facts.manufacturer, facts.model)[::-1]
    window = Window.of(stated_number(request.args, "history"), PAGE_SIZE, len(classes))
    shown = classes[window.offset : window.last + 1]  # and the one before the oldest that is shown
    known = reports.fingerprints(session, [found.device_class for found in shown])
    eras = [_era(shown, at, known) for at in range(window.last - window.offset)]
    return History(tuple(eras), window)


def _era(shown: Sequence[ClassOfPhone], at: int, known: dict[str, Fingerprint]) -> Era:
    if at + 1 == len(shown):
        return Era(shown[at], None, None)
    before = shown[at + 1].device_class
    return Era(shown[at], before, fingerprint_changes(known[before], known[shown[at].device_class]))
