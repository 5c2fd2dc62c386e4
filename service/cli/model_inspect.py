"""`nnfleet model inspect`: what a model file tells of itself."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import typer

from service.registry.inspection import inspect_file


def inspect(file: Path, as_json: bool) -> bool:
    """Print the facts of the file; False where it is of a kind that nothing here reads. Raises ModelFileError."""
    found = inspect_file(file)
    if found is None:
        typer.echo(f"{file}: of a kind that is not read here", err=True)
        return False
    with file.open("rb") as content:
        sha256 = hashlib.file_digest(content, "sha256").hexdigest()
    facts = {"sha256": sha256, "size_bytes": file.stat().st_size, **found.facts}
    typer.echo(json.dumps(facts) if as_json else "\n".join(_lines(facts)))
    return True


def _lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """A fact a line; what has several parts has each on a line of its own."""
    for name, value in facts.items():
        if name == "remarks":
            yield from told(value)
        elif isinstance(value, dict):
            yield f"{name}:"
            yield from (f"  {part}: {number:,}" for part, number in value.items())
        elif isinstance(value, list):
            yield f"{name}: {', '.join(_words(part) for part in value) or '–'}"
        else:
            yield f"{name}: {value:,}" if isinstance(value, int) else f"{name}: {value}"


def told(remarks: Iterable[Mapping[str, str]]) -> Iterator[str]:
    """A kind of remark a line, at its first place: one that holds at twenty is told once."""
    places: dict[tuple[str, ...], list[str]] = {}
    for one in remarks:
        places.setdefault((one["weight"], one["code"], one["advice"]), []).append(one["where"])
    for (weight, code, advice), (first, *others) in places.items():
        more = f", and at {len(others)} more places" if others else ""
        yield f"{weight} {code}: {first}{more}: {advice}"


def _words(part: Any) -> str:
    return f"{part['name']} {part['type']} {part['shape']}" if isinstance(part, dict) else str(part)
