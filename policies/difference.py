"""What changed between two JSON values, as lines: where, what it was, what it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

_NAMES: Final = ("id", "name", "app")


@dataclass(frozen=True, slots=True)
class Change:
    """One place that differs. `path` joins keys and ids with `/`; `before` or `after` is None where nothing was."""

    path: str
    before: Any
    after: Any

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"path": self.path, "before": self.before, "after": self.after}


def difference(before: Any, after: Any, path: str = "") -> Iterator[Change]:
    """The changes from one value to the other, in a stable order. Lists of things with ids are compared by id."""
    if before == after:
        return
    old, new = _keyed(before, after), _keyed(after, before)
    if old is None or new is None:
        yield Change(path or "/", before, after)
        return
    if not isinstance(before, Mapping) and _in_common(old, new) != _in_common(new, old):
        yield Change(f"{path}/order", list(old), list(new))
    for key in sorted(old.keys() | new.keys()):
        if key in old and key in new:
            yield from difference(old[key], new[key], f"{path}/{key}")
        else:
            yield Change(f"{path}/{key}", old.get(key), new.get(key))


def _in_common(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The names of one that the other has, in order: rules are asked in theirs."""
    return [name for name in one if name in other]


def _keyed(value: Any, other: Any) -> Mapping[str, Any] | None:
    """An object as it is, a list of named things by name, None for anything without parts.

    An empty list has no parts, where the `other` is a list of named things.
    """
    if value == [] and isinstance(other, Sequence):
        return {} if _keyed(other, None) is not None else None
    if isinstance(value, Mapping):
        return value
    if isinstance(value, Sequence) and not isinstance(value, str) and value:
        name = next((n for n in _NAMES if all(isinstance(v, Mapping) and n in v for v in value)), None)
        named = {str(v[name]): v for v in value} if name else {}
        return named if len(named) == len(value) else None
    return None
