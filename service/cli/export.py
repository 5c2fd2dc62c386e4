"""`nnfleet export`: files for other systems, from a release."""

from __future__ import annotations

import json
from pathlib import Path

import typer
from sqlmodel import Session

from policies.errors import NnfleetError, UnknownRelease
from policies.play.xml import to_json, to_xml
from service.cli.database import open_database
from service.releasing.play_export import export_play
from service.releasing.releases import load


def export_for_play(app: str, release: int | None, data: Path | None, as_json: bool) -> None:
    """Print Google Play's device groups; what Play cannot be told goes to standard error as well."""
    with open_database(data) as engine:
        try:
            content = load(engine, release)
            if content is None:
                raise UnknownRelease("there is no such release")
            with Session(engine) as session:
                found = export_play(session, content, app)
        except NnfleetError as error:
            raise typer.BadParameter(error.detail) from error
    for text in found.warnings:
        typer.echo(f"warning: {text}", err=True)
    title = f"nnfleet: app {app}, release {content.number}"
    typer.echo(json.dumps(to_json(found)) if as_json else to_xml(found, title), nl=as_json)
