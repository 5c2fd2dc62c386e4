"""Device classes: the list, and everything known of one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from flask import Response, render_template, request
from sqlmodel import Session

from policies.decide import decide_model
from policies.fingerprint import Fingerprint
from policies.fingerprint_changes import fingerprint_changes
from policies.plans import Plan
from policies.vocabulary import Workload
from service.console import class_search
from service.console.class_history import history
from service.console.listing import csv_file, listed, wants_csv
from service.console.own_apps import of_own, reader
from service.console.support_map import support_map
from service.context import services
from service.deciding import stored_facts
from service.live import live_release
from service.releasing.release_content import ReleaseContent
from service.store import class_observations, lab

MEASURED_ARMS: Final = 25
FILTER_TITLES: Final = {
    "vendor": "SoC vendor",
    "soc": "SoC",
    "api": "API level",
    "accelerator": "Accelerator",
    "anomaly": "Anomaly",
    "population": "Population",
}


def list_page() -> str:
    """Classes that match the address, a page of them."""
    wanted = class_search.Wanted.from_query(request.args)
    with Session(services().engine) as session:
        found = class_search.search(session, wanted)
        choices = class_search.choices(session)
    return render_template(
        "console/classes.html", wanted=wanted, found=found, choices=choices, filter_titles=FILTER_TITLES
    )


@dataclass(frozen=True, slots=True)
class Decided:
    """What the class gets of a model. `plan` is None where nothing can run; `same` where both workloads share it."""

    app: str
    model: str
    workload: Workload
    target_ms: float
    plan: Plan | None
    expected_ms: float | None
    same: bool
    denied_by: tuple[str, ...]


def class_page(device_class: str) -> str | Response:
    """One class, or what it measured as a file."""
    with Session(services().engine) as session:
        measured = class_observations.by_arm(device_class)
        measured = measured.where(of_own(measured.selected_columns.app))
        if wants_csv():
            return csv_file(session, measured, f"observations-{device_class}")
        report_id, facts = stored_facts.of_class(session, device_class)
        past = history(session, facts)
        observed = listed(session, measured, MEASURED_ARMS)
        in_labs = [row for row in lab.of_class(session, device_class) if reader().sees(row.app)]
    content = live_release()
    return render_template(
        "console/device_class.html",
        device_class=device_class,
        report_id=report_id,
        facts=facts,
        past=past,
        support=support_map(facts.accelerators),
        observed=observed,
        in_labs=in_labs,
        release=content.number if content else None,
        decided=list(_decided(content, facts)) if content else [],
    )


def compare_page(device_class: str, earlier: str) -> str:
    """What changed from one class to another, and what that voids."""
    with Session(services().engine) as session:
        _, before = stored_facts.of_class(session, earlier)
        _, after = stored_facts.of_class(session, device_class)
    changes = fingerprint_changes(before, after)
    return render_template("console/class_changes.html", before=before, after=after, changes=changes)


def _decided(content: ReleaseContent, facts: Fingerprint) -> Iterator[Decided]:
    own = ((app, document) for app, document in sorted(content.documents.items()) if reader().sees(app))
    for app, document in own:
        knowledge = content.knowledge(facts.driver_stack, app)
        for model in content.models.get(app, ()):
            decision = decide_model(facts, document, model, knowledge)
            same = len(decision.plans) == 1
            for plan in decision.plans or (None,):
                workload = plan.workload if plan else Workload.BURST
                lead = plan.splits[0].ladder[0] if plan else ""
                expected_ms = decision.expected_ms.get((workload, lead))
                target_ms = model.latency_target_ms
                yield Decided(app, model.name, workload, target_ms, plan, expected_ms, same, decision.denied_by)
