"""`nnfleet import`: files of benchmark tools → lab measurements."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer
from sqlalchemy import Engine
from sqlmodel import Session

from policies.errors import NnfleetError, UnknownApp, UnknownModel
from policies.fingerprint import Fingerprint, fingerprint
from policies.report import parse_report
from service import clock
from service.cli.database import open_database
from service.jobs.lab import Bench, Imported, take
from service.store import lab, models


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says. Either `report` or `device_class` tells the phone."""

    app: str
    model: str
    report: Path | None
    device_class: str | None
    variant: str | None
    device: str | None
    data: Path | None


def import_files(files: Sequence[Path], asked: Asked, as_json: bool) -> bool:
    """Import each file by itself and say what came of it; returns whether all could be read."""
    with open_database(asked.data) as engine:
        try:
            bench = _bench(engine, asked)
            found = [_taken(engine, file, bench) for file in files]
        except NnfleetError as error:
            raise typer.BadParameter(error.detail) from error
    typer.echo(json.dumps([one.to_json() for one in found]) if as_json else "\n".join(map(_line, found)))
    return all(one.error is None for one in found)


def _taken(engine: Engine, file: Path, bench: Bench) -> Imported:
    try:
        content = file.read_bytes()
    except OSError as error:
        return Imported(str(file), error=f"{file}: {error.strerror}")
    return take(engine, str(file), content, bench, clock.now())


def _bench(engine: Engine, asked: Asked) -> Bench:
    """Raises UnknownApp or UnknownModel, what a report can be wrong in, and typer.BadParameter without a phone."""
    with Session(engine) as session:
        specs = {(spec.app, spec.name): spec for spec in models.all_models(session)}
        if asked.app not in {app for app, _ in specs}:
            raise UnknownApp(f"no model of the app {asked.app!r} is registered", field="app")
        if (asked.app, asked.model) not in specs:
            raise UnknownModel(f"{asked.app} has no model {asked.model!r}", field="model")
        phone = _phone(session, asked)
    return Bench(phone, specs[asked.app, asked.model], asked.variant, asked.device)


def _phone(session: Session, asked: Asked) -> Fingerprint:
    if (asked.report is None) == (asked.device_class is None):
        raise typer.BadParameter("which phone? either --report or --class")
    if asked.report is not None:
        return fingerprint(parse_report(asked.report.read_bytes()))
    known = lab.fleet_class(session, asked.device_class or "")
    if known is None:
        raise typer.BadParameter(f"no phone has reported the class {asked.device_class!r}")
    return known


def _line(one: Imported) -> str:
    if one.error is not None:
        return f"not imported: {one.error}"
    aside = "".join(f"; {count} not learned from: {reason}" for reason, count in one.set_aside.items())
    return f"{one.file}: {one.new} new, {one.known} known already{aside}"
