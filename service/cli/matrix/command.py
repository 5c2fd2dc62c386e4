"""`nnfleet report matrix` from its options to its files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import typer
from jinja2 import Environment, PackageLoader, StrictUndefined
from sqlalchemy import Engine
from sqlmodel import Session

from ml.matrix import Grid, busiest, device_name, matrix
from policies.fingerprint import Fingerprint
from policies.vocabulary import Workload
from service.cli.database import open_database
from service.csv_text import csv_text
from service.jobs.rollup import rollups
from service.releasing.releases import load
from service.store import reports

FILES: Final = ("operations", "latency", "accuracy", "changes")


def report_matrix(out: Path, named: Sequence[str], data: Path | None) -> None:
    """Write `index.html` and one CSV a table into `out`. `named`: device classes; without any, the ten busiest."""
    with open_database(data) as engine:
        grids, number = _grids(engine, named)
    out.mkdir(parents=True, exist_ok=True)
    for name, grid in zip(FILES, grids, strict=True):
        (out / f"{name}.csv").write_text(_csv(grid), "utf-8", newline="")
    (out / "index.html").write_text(_page(grids, number), "utf-8")
    typer.echo(f"devices: {len(grids[1].columns)} → {out / 'index.html'}")


def _grids(engine: Engine, named: Sequence[str]) -> tuple[tuple[Grid, ...], int | None]:
    with Session(engine) as session:
        rows = rollups(session)
        known = {device.device_class: device for device in reports.device_classes(session)}
    if unknown := sorted(set(named) - known.keys()):
        raise typer.BadParameter(f"no phone of class {unknown[0]} has reported")
    devices = [known[name] for name in named] or busiest(rows, known.values())
    changes, number = _changes(engine, devices)
    return (*matrix(devices, rows), changes), number


def _changes(engine: Engine, devices: Sequence[Fingerprint]) -> tuple[Grid, int | None]:
    """Arms that lead under the newest release and did not under the one before."""
    newest = load(engine)
    before = load(engine, newest.number - 1) if newest and newest.number > 1 else None
    columns = tuple(map(device_name, devices))
    title = (
        f"Leading arm: release {before.number} → {newest.number}" if newest and before else "Leading arm: first release"
    )
    if newest is None or before is None:
        return Grid(title, columns, ()), newest.number if newest else None
    now, then = (
        [dict(_leaders(content.rankings.get(device.driver_stack, {}))) for device in devices]
        for content in (newest, before)
    )
    models = sorted({model for leaders in (*now, *then) for model in leaders})
    rows = [
        (model, tuple(_change(old.get(model), new.get(model)) for old, new in zip(then, now, strict=True)))
        for model in models
    ]
    return Grid(title, columns, tuple(rows)), newest.number


def _leaders(by_app: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Iterator[tuple[str, str]]:
    for app, by_model in by_app.items():
        for model, by_workload in by_model.items():
            ranked = by_workload.get(Workload.BURST.value, {}).get("ranked", [])
            if ranked:
                yield f"{app}/{model}", ranked[0][0]


def _change(old: str | None, new: str | None) -> str:
    if old is None and new is None:
        return "not learned"
    return f"{new} as before" if old == new else f"{old or 'not learned'} → {new or 'not learned'}"


def _csv(grid: Grid) -> str:
    return csv_text(["", *grid.columns], ([name, *cells] for name, cells in grid.rows))


def _page(grids: Sequence[Grid], number: int | None) -> str:
    loader = PackageLoader("service.cli.matrix", ".")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("matrix.html.j2").render(grids=grids, number=number)
