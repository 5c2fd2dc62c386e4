"""`nnfleet model add`: upload files, and declare them as variants of a model."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from service.cli.model_inspect import told as remarks
from service.cli.remote import Refused, Remote, Reply, stated_token

NEW = ("task", "family", "latency_target_ms")
"""What a model states that is new."""


@dataclass(frozen=True, slots=True)
class Addition:
    """What is added to which model. `stated` are fields of the model, `of_files` fields of each variant.

    `golden`: run the float file of them on a fixed input, for the others and for phones to compare with;
    `golden_input`: on this one.
    """

    app: str
    name: str
    files: Sequence[Path]
    stated: Mapping[str, Any]
    of_files: Mapping[str, Any]
    golden: bool = False
    golden_input: Path | None = None


def add(server: str, addition: Addition) -> bool:
    """Upload the files and put the model; a variant of the same id is replaced. Raises Refused and GoldenFailed."""
    remote = Remote(server, stated_token())
    path = f"/v1/models/{addition.app}/{addition.name}"
    standing = _standing(remote, path)
    model = _model(addition, standing.body if standing else None)
    if addition.golden:
        model["golden"] = _golden(remote, addition)
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
    for line in remarks(told["remarks"]):
        typer.echo(f"  {line}")
    return sha256


def _golden(remote: Remote, addition: Addition) -> dict[str, Any]:
    """The reference, made here and uploaded; how far each file is off is told."""
    # Here: numpy and LiteRT are not needed to add a model without a reference.
    from service.registry.golden import make_golden

    with tempfile.TemporaryDirectory() as folder:
        made = make_golden(addition.files, Path(folder), addition.golden_input)
        for file, error in made.errors.items():
            typer.echo(f"{file}: off by {error:.2%} of the float file's largest value")
        digests = {"input_sha256": upload(remote, made.inputs), "output_sha256": upload(remote, made.outputs)}
    return digests | {"tolerance": round(made.tolerance, 4)}


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
