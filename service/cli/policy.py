"""`nnfleet policy`: policies in files, checked and made."""

from __future__ import annotations

import json
from pathlib import Path

import typer
import yaml

from policies.document import PolicyDocument, parse_document
from policies.errors import InvalidField, NnfleetError
from policies.gpu_list import gpu_denies
from service.cli.policy_file import policy_in


def check(file: Path) -> None:
    """Say what the policy states, or what is wrong with it."""
    try:
        document = policy_in(file)
    except NnfleetError as error:
        raise typer.BadParameter(f"{file}: {error.detail}") from error
    typer.echo(f"{file}: app {document.app}, {len(document.rules)} rules, {len(document.denies)} denies")


def import_gpu_allowlist(file: Path, app: str, into: Path | None, as_json: bool) -> None:
    """Print the policy of the app with the list's denies at the end of its own."""
    try:
        document = _with_denies(file, app, policy_in(into) if into else parse_document({"app": app}))
    except NnfleetError as error:
        raise typer.BadParameter(error.detail) from error
    stated = document.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    typer.echo(json.dumps(stated) if as_json else _yaml(stated), nl=as_json)


def _with_denies(file: Path, app: str, document: PolicyDocument) -> PolicyDocument:
    if document.app != app:
        raise InvalidField(f"app: the policy is that of {document.app!r}, not of {app!r}", field="app")
    stated = document.model_dump(mode="json", by_alias=True)
    denies = [deny.model_dump(mode="json") for deny in gpu_denies(file.read_text("utf-8", errors="replace"))]
    return parse_document(stated | {"denies": [*stated["denies"], *denies]})


def _yaml(stated: object) -> str:
    return yaml.safe_dump(stated, sort_keys=False, allow_unicode=True, width=120)
