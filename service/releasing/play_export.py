"""Google Play's device groups for an app, from a release and the phones that have reported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sqlmodel import Session

from policies.asked import Moment
from policies.errors import UnknownApp
from policies.explaining.explain import Explanation
from policies.fingerprint import Fingerprint, fingerprint
from policies.play.groups import Chip, Files, Phones, PlayGroups, play_groups
from policies.report import parse_report
from service.deciding.explained import explained
from service.releasing.release_content import ReleaseContent
from service.store import reports

MAX_CLASSES: Final = 2_000
"""Device classes decided for, those with the most reports: a rare phone changes no group, and each costs a decision."""

NOT_TOLD: Final = (
    "Play delivers files; which of them leads, where it runs and with which settings is still decided by the service",
    "drivers, firmware and splits cannot be told to Play: the groups hold for the largest split of burst work",
)


def export_play(session: Session, content: ReleaseContent, app: str) -> PlayGroups:
    """The groups; raises UnknownApp, or UnknownModel where the app has no models."""
    if app not in content.documents:
        raise UnknownApp(f"release {content.number} has no app {app!r}", field="app")
    rows = reports.reports_by_chip(session, MAX_CLASSES + 1)
    found = play_groups(_phones(session, rows[:MAX_CLASSES], content, app))
    rare = [f"only the {MAX_CLASSES} classes with the most reports were decided for"] if len(rows) > MAX_CLASSES else []
    return PlayGroups(found.groups, (*NOT_TOLD, *rare, *found.warnings))


def _phones(session: Session, rows: list[reports.ReportsOfChip], content: ReleaseContent, app: str) -> Iterator[Phones]:
    for row in rows:
        facts = fingerprint(parse_report(reports.report_body(session, row.report_id) or b""))
        chip = Chip(row.soc_manufacturer, row.soc_model) if row.soc_manufacturer and row.soc_model else None
        yield Phones(chip, facts.ram_gb, row.reports, _files(facts, content, app))


def _files(facts: Fingerprint, content: ReleaseContent, app: str) -> Files:
    made = explained(facts, content, app, None, Moment())
    return tuple(sorted((one.model.name, _variants(one)) for one in made if one.ladder))


def _variants(made: Explanation) -> tuple[str, ...]:
    return tuple(sorted({made.decided.arms[arm].variant.id for arm in made.ladder}))
