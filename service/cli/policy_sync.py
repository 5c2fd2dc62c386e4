"""`nnfleet policy pull | diff | push | lint`: policies as code."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import typer

from policies.difference import difference
from policies.document import PolicyDocument
from policies.errors import InvalidInput, NnfleetError
from service.cli.policy_folder import PolicyFile, file_of, policy_files
from service.cli.remote import Refused, Remote, stated_token


def lint(folder: Path) -> bool:
    """Check every policy of the folder, without any server; True where all would be taken.

    A folder without any is wrong: whoever checks before a merge has named another than they meant.
    """
    found = [(file, _wrong(file)) for file in policy_files(folder)]
    for file, wrong in found:
        typer.echo(f"{file.path}: {wrong or 'ok'}")
    if not found:
        typer.echo(f"no policies (*.yaml) in {folder}")
    return bool(found) and all(wrong is None for _, wrong in found)


def pull(server: str, folder: Path) -> bool:
    """Write what stands on the server into the folder; always True."""
    folder.mkdir(parents=True, exist_ok=True)
    remote = Remote(server, stated_token())
    for row in remote.send("GET", "/v1/policies").body["policies"]:
        document, revision = _stated(remote, row["subject"])
        file = file_of(folder, document.app)
        typer.echo(f"{file.path}: {'written' if file.write(document, revision) else 'unchanged'}, revision {revision}")
    return True


def diff(server: str, folder: Path) -> bool:
    """Say what a push would change; True where nothing."""
    changed = [(file, list(changes)) for file, changes, _ in _compared(Remote(server, stated_token()), folder)]
    for file, changes in changed:
        for change in changes:
            before, after = (json.dumps(value, ensure_ascii=False) for value in (change["before"], change["after"]))
            typer.echo(f"{file.app}{change['path']}: {before} → {after}")
    return not any(changes for _, changes in changed)


def push(server: str, folder: Path, note: str) -> bool:
    """Propose every policy that differs, as an edit of the revision it was pulled from; all are checked before any is."""
    if not lint(folder):
        return False
    remote = Remote(server, stated_token())
    good = True
    for file, changes, standing in _compared(remote, folder):
        if changes:
            good = _told(file, lambda f=file, s=standing: _propose(remote, f, note, s)) and good  # type: ignore[misc]
    return good


def _propose(remote: Remote, file: PolicyFile, note: str, standing: int | None) -> str:
    content = file.document().model_dump(mode="json", by_alias=True)
    base = file.base if standing is not None else None
    body = {"kind": "policy", "content": content, "note": note} | ({"base": base} if base else {})
    number = remote.send("POST", "/v1/revisions", body).body["revision"]
    revision = remote.send("POST", f"/v1/revisions/{number}/submit", {"note": note}).body
    file.note_base(number)
    return f"revision {number}, {revision['state']}"


def _told(file: PolicyFile, act: Callable[[], str]) -> bool:
    try:
        typer.echo(f"{file.path}: {act()}")
    except (NnfleetError, Refused) as error:
        typer.echo(f"{file.path}: {error.detail}", err=True)
        return False
    return True


def _compared(remote: Remote, folder: Path) -> Iterator[tuple[PolicyFile, list[dict[str, Any]], int | None]]:
    """(file, what it changes, the revision that stands or None) of every policy in the folder."""
    known = {row["subject"] for row in remote.send("GET", "/v1/policies").body["policies"]}
    for file in policy_files(folder):
        stands, revision = _stated(remote, file.app) if file.app in known else (None, None)
        before = stands.model_dump(mode="json", by_alias=True) if stands else None
        after = file.document().model_dump(mode="json", by_alias=True)
        yield file, [change.to_json() for change in difference(before, after)], revision


def _stated(remote: Remote, app: str) -> tuple[PolicyDocument, int]:
    reply = remote.send("GET", f"/v1/policies/{app}")
    return PolicyDocument.model_validate(reply.body), int(reply.headers["ETag"].strip('"'))


def _wrong(file: PolicyFile) -> str | None:
    try:
        file.document()
    except InvalidInput as error:
        return error.detail
    return None
