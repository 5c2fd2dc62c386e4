"""A model that an operator declares by its files: what a file tells is read from it, not stated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlmodel import Session

from policies.errors import InvalidField
from policies.model import ModelSpec
from policies.targets import check_targets
from policies.validation import validated
from service.registry.kinds import kinds_read
from service.store import artifacts
from service.store.tables import ArtifactRow


def model_spec(session: Session, raw: Any) -> ModelSpec:
    """The model that the JSON states, with what its files tell filled in.

    Raises InvalidField where a statement and the file differ, naming both, also where it is called what its bytes are not,
    for everything that `ModelSpec` refuses, and for a file that its own target cannot run.
    """
    spec = validated(ModelSpec, _filled_in(session, raw))
    check_targets(spec)
    return spec


def _filled_in(session: Session, raw: Any) -> Any:
    named = {variant["sha256"] for _, variant in _variants(raw)}
    kept = artifacts.these(session, named)
    completed = {place: _completed(place, variant, kept) for place, variant in _variants(raw)}
    if not completed:
        return raw
    variants = [completed.get(place, variant) for place, variant in enumerate(raw["variants"])]
    return raw | {"variants": variants}


def told_by(row: ArtifactRow) -> dict[str, Any]:
    """What a variant of this file need not state; of a kind that nothing here reads only the size."""
    size = {"size_bytes": row.size_bytes}
    if row.facts is None:
        return size
    return size | {
        "format": row.format,
        "precision": row.precision,
        "graph": row.graph,
        "inputs": row.facts["inputs"],
    }


def _variants(raw: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """(place, variant) of those that name a file; what else is wrong with them is said elsewhere."""
    stated = raw.get("variants") if isinstance(raw, Mapping) else None
    for place, variant in enumerate(stated if isinstance(stated, list) else ()):
        if isinstance(variant, dict) and isinstance(variant.get("sha256"), str):
            yield place, variant


def _completed(place: int, variant: dict[str, Any], kept: Mapping[str, ArtifactRow]) -> dict[str, Any]:
    row = kept.get(variant["sha256"])
    if row is None:
        return variant
    told = told_by(row)
    for name, read in told.items():
        stated = variant.get(name)
        if stated not in (None, [], read):
            field = f"variants.{place}.{name}"
            raise InvalidField(f"{field}: {_words(stated)} is stated, the file says {_words(read)}", field=field)
    if row.format is None and variant.get("format") in kinds_read():
        field = f"variants.{place}.format"
        raise InvalidField(
            f"{field}: {variant['format']!r} is stated, and the bytes of the file are no such", field=field
        )
    return variant | told


def _words(value: Any) -> str:
    """The value, or of a long one how long it is."""
    if isinstance(value, dict):
        return f"a graph of {len(value.get('nodes') or ())} operations"
    return repr(value)
