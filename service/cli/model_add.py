"""`nnfleet model add`: upload files, and declare them as variants of a model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from service.cli.remote import Refused, Remote, Reply, stated_token

NEW = ("task", "family", "latency_target_ms")
"""What a model states that is new."""


@dataclass(frozen=True, slots=True)
class Addition:
    """What is added to which model. `stated` are fields of the model, `of_files` fields of each variant."""

    app: str
    name: str
    files: Sequence[Path]
    stated: Mapping[str, Any]
    of_files: Mapping[str, Any]


def add(server: str, addition: Addition) -> bool:
    """Upload the files and put the model; a variant of the same id is replaced. Raises Refused."""
    remote = Remote(server, stated_token())
    path = f"/v1/models/{addition.app}/{addition.name}"
    standing = _standing(remote, path)
    model = _model(addition, standing.body if standing else None)
    variants = [{"id": file.stem, "sha256": upload(remote, file), **addition.of_files} for file in addition.files]
    model["variants"] = _merged(model.get("variants", ()), variants)
    edit = {"If-Match": standing.headers["ETag"]} if standing else {}
    put = remote.send("PUT", path, model, edit)
    typer.echo(f"{addition.app}.{addition.name}: revision {put.headers['ETag']}, {put.headers['Nnfleet-Review']}")
    return True


def upload(remote: Remote, file: Path) -> str:
    """Bring the file to the server, where it is not there yet; returns its digest."""
    with file.open("rb") as content:
        sha256 = hashlib.file_digest(content, "sha256").hexdigest()
    path = f"/v1/artifacts/{sha256}"
    if remote.has(path):
        typer.echo(f"{file}: was here")
        return sha256
    told = remote.upload(path, file).body
    kind = f"{told['precision']} {told['format']}" if told["format"] else "of a kind that is not read"
    typer.echo(f"{file}: {told['size_bytes']:,} bytes, {kind}")
    return sha256


def _standing(remote: Remote, path: str) -> Reply | None:
    try:
        return remote.send("GET", path)
    except Refused as refused:
        if refused.code == "unknown-model":
            return None
        raise


def _model(addition: Addition, standing: dict[str, Any] | None) -> dict[str, Any]:
    stated = {name: value for name, value in addition.stated.items() if value is not None}
    if standing is not None:
        return standing | stated
    missing = [f"--{name.replace('_', '-')}" for name in NEW if name not in stated and name != "family"]
    if missing:
        raise Refused(f"{addition.app}.{addition.name} is new: state {' and '.join(missing)}")
    return {"app": addition.app, "name": addition.name, "family": addition.name} | stated


def _merged(standing: Iterable[dict[str, Any]], added: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    replaced = {variant["id"] for variant in added}
    return [variant for variant in standing if variant["id"] not in replaced] + list(added)
