"""`nnfleet compare`: what changed between two reports of one phone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import typer

from policies.errors import NnfleetError
from policies.fingerprint import Fingerprint, fingerprint
from policies.fingerprint_changes import FingerprintChanges, fingerprint_changes
from policies.report import parse_report


def compare(before: Path, after: Path, as_json: bool) -> None:
    """Print the changes."""
    found = fingerprint_changes(_facts(before), _facts(after))
    typer.echo(json.dumps(found.to_json()) if as_json else "\n".join(_lines(found)))


def _facts(file: Path) -> Fingerprint:
    try:
        return fingerprint(parse_report(file.read_bytes()))
    except NnfleetError as error:
        raise typer.BadParameter(f"{file}: {error.detail}") from error


def _lines(found: FingerprintChanges) -> Iterator[str]:
    yield f"class: {'the same' if found.same_class else 'another one'}"
    yield f"driver stack: {'the same' if found.same_stack else 'another one'}"
    for title, names in (("new", found.new), ("gone", found.gone), ("caches void", found.void)):
        yield f"{title}: {', '.join(names) or 'none'}"
    yield from (f"{line.path}: {_value(line.before)} → {_value(line.after)}" for line in found.lines)


def _value(value: object) -> str:
    return "–" if value is None else json.dumps(value, ensure_ascii=False)
