"""One model: its variants and their operations, what drivers took of them, and which class gets which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from flask import Response, render_template, request
from sqlmodel import Session

from policies.errors import UnknownModel
from policies.model import ModelSpec, Variant
from policies.revision import ACCEPTED, Kind
from service.console import class_search
from service.console.coverage_map import CoverageMap, coverage_map
from service.console.listing import csv_rows, wants_csv
from service.console.model_classes import class_variants
from service.context import services
from service.live import live_release
from service.store import arm_tallies, artifacts, revisions

_TALLIED: Final = (
    "arm", "device_classes", "windows", "delegated_windows", "delegated_share_sum", "failed", "timed_out",
    "golden_checked", "golden_failed", "attempts", "crashed",
)  # fmt: skip


def page(app: str, model: str) -> str | Response:
    """One model, or what was measured of its arms as a file; raises UnknownModel."""
    wanted = class_search.Wanted.from_query(request.args)
    content = live_release()
    with Session(services().engine) as session:
        row = revisions.newest(session, Kind.MODEL, f"{app}/{model}", ACCEPTED)
        if row is None:
            raise UnknownModel(f"no model {app}/{model} is registered", field="model")
        kept = artifacts.known(session, [variant["sha256"] for variant in row.content["variants"]])
        measured = arm_tallies.of_models(session, [(app, model)])
        if wants_csv():
            return csv_rows(_TALLIED, ([getattr(m, name) for name in _TALLIED] for m in measured), f"{app}-{model}")
        found = class_search.search(session, wanted)
        live = next((s for s in content.models.get(app, ()) if s.name == model), None) if content else None
        decided = list(class_variants(session, content, live, found.rows)) if content and live else []
    spec = ModelSpec.model_validate(row.content)
    return render_template(
        "console/model.html",
        row=row,
        spec=spec,
        release=content.number if content and live else None,
        kept=kept,
        census=census(spec.variants),
        measured=measured,
        covered=_covered(spec, measured),
        wanted=wanted,
        found=found,
        decided=decided,
    )


def census(variants: Iterable[Variant]) -> list[tuple[str, list[int | None]]]:
    """(operation, how often each variant has it; None where its graph was not read), the commonest first."""
    counts = [Counter(node.op for node in v.model_graph.nodes) if v.model_graph else None for v in variants]
    names = Counter(name for count in counts if count for name in count.elements())
    return [(name, [None if c is None else c[name] for c in counts]) for name, _ in names.most_common()]


def _covered(spec: ModelSpec, measured: Iterable[Any]) -> CoverageMap | None:
    """By precision: what a driver takes of a graph depends on the types in it."""
    parts = [(m.arm.split(".", 1)[0], m.arm, m.delegated_windows, m.delegated_share_sum) for m in measured]
    return coverage_map(parts, list(dict.fromkeys(str(variant.precision) for variant in spec.variants)))
