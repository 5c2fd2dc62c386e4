"""A model as a form: fields are named by their place in the document, as faults are, so that each stands beside its field."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

Fields = dict[str, str]
"""What a form holds, by name."""
MOST_DIGITS: Final = 16
"""Beyond any size; Python refuses to read thousands of them."""
_PLACE: Final = re.compile(r"variants\.(\d{1,3})\.id")


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text  # the document says what is wrong with it


def _share(text: str) -> Any:
    number = _number(text.removesuffix("%"))
    return round(number / 100, 10) if isinstance(number, float) else text


def _names(text: str) -> list[str]:
    return [name for name in re.split(r"[,\s]+", text) if name]


def _shapes(text: str) -> list[Any]:
    return [[_size(size) for size in shape.split("x")] for shape in _names(text)]


def _size(text: str) -> int | str:
    return int(text) if text.isdecimal() and len(text) < MOST_DIGITS else text


def _percent(value: float) -> str:
    return f"{value * 100:.10g}"


_Read = Callable[[str], Any]
_Write = Callable[[Any], str]
_TEXT: Final[tuple[_Read, _Write]] = (str, str)
_NUMBER: Final[tuple[_Read, _Write]] = (_number, lambda value: f"{value:.15g}")
_SHARE: Final[tuple[_Read, _Write]] = (_share, _percent)

MODEL: Final = {
    "task": _TEXT,
    "family": _TEXT,
    "latency_target_ms": _NUMBER,
    "max_accuracy_drop": _SHARE,
    "max_memory_mb": _NUMBER,
    "params": _NUMBER,
}
"""A field of the model → how it is read from a form, and written into one."""
VARIANT: Final[Mapping[str, tuple[_Read, _Write]]] = {
    "id": _TEXT,
    "sha256": _TEXT,
    "precision": _TEXT,
    "format": _TEXT,
    "targets": (_names, ", ".join),
    "runtime_versions": _TEXT,
    "accuracy_drop": _SHARE,
    "shape_buckets": (_shapes, lambda shapes: ", ".join("x".join(map(str, shape)) for shape in shapes)),
}


def fields_of(content: Mapping[str, Any]) -> Fields:
    """The form that states this document."""
    found = dict(_written("", content, MODEL))
    for place, variant in enumerate(content.get("variants", ())):
        found |= _written(f"variants.{place}.", variant, VARIANT)
    return found


def _written(prefix: str, stated: Mapping[str, Any], known: Mapping[str, tuple[_Read, _Write]]) -> Iterator[Any]:
    for name, (_, write) in known.items():
        value = stated.get(name)
        yield prefix + name, "" if value in (None, [], ()) else write(value)


def places(fields: Mapping[str, str]) -> list[int]:
    """The places of the variants in a form."""
    return sorted(int(found[1]) for name in fields if (found := _PLACE.fullmatch(name)))


def renumbered(form: Mapping[str, str]) -> Fields:
    """The fields of a form, without the variants that are to go: places in it and in the document are the same."""
    kept = [place for place in places(form) if not form.get(f"variants.{place}.remove")]
    found = {name: form.get(name, "").strip() for name in MODEL}
    for place, was in enumerate(kept):
        found |= {f"variants.{place}.{name}": form.get(f"variants.{was}.{name}", "").strip() for name in VARIANT}
    return found


def document(fields: Mapping[str, str], before: Mapping[str, Any]) -> dict[str, Any]:
    """The document that a form states. What no form holds, as graphs and the golden reference, stays as it was `before`.

    An empty field states nothing. Variants that the form does not have are gone; what is not in a form of a variant is
    taken from the one before that had the same file.
    """
    of_file = {variant["sha256"]: variant for variant in before.get("variants", ())}
    variants = []
    for place in places(fields):
        read = _read(f"variants.{place}.", fields, VARIANT)
        variants.append(_but(of_file.get(read.get("sha256"), {}), VARIANT) | read)
    return _but(before, MODEL) | _read("", fields, MODEL) | {"variants": variants}


def _but(stated: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in stated.items() if name not in known}


def _read(prefix: str, fields: Mapping[str, str], known: Mapping[str, tuple[_Read, _Write]]) -> dict[str, Any]:
    return {name: read(text) for name, (read, _) in known.items() if (text := fields.get(prefix + name, ""))}
