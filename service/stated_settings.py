"""From what an environment states to values: one that cannot be meant is refused by its variable, not guessed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from policies.errors import InvalidField
from policies.nearest import did_you_mean, nearest

PREFIX: Final = "NNFLEET_"
_KUBERNETES: Final = re.compile(r"_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$")
"""What a cluster sets in every pod for a service that is called nnfleet, or nnfleet-…."""


def check_names(stated: Iterable[str], known: Iterable[str]) -> None:
    """Raise InvalidField for a variable that begins as ours do and is none: the door that it should shut stays open."""
    names = {name.removeprefix(PREFIX): name for name in known}
    for name in stated:
        if name.startswith(PREFIX) and name not in names.values() and not _KUBERNETES.search(name):
            close = nearest(name.removeprefix(PREFIX), names)
            raise InvalidField(f"{name}: there is no such setting{did_you_mean(close and names[close])}", field=name)


def value_of(name: str, kind: str, text: str, bounds: Mapping[str, Any]) -> Any:
    """The value of a variable; raises InvalidField. `kind`: the type of its field, as it is written.

    `bounds` may hold `least` and `most` of a number, the `words` there are, and how a text `begins`.
    """
    what, read = _READ[kind]
    try:
        value = read(text)
    except (KeyError, ValueError) as error:
        raise InvalidField(f"{name}: {what} belongs here, not {text!r}", field=name) from error
    if "least" in bounds:
        _check_range(name, value, bounds["least"], bounds["most"])
    if "words" in bounds and text.lower() not in bounds["words"]:
        raise InvalidField(f"{name}: one of {', '.join(bounds['words'])}, not {text!r}", field=name)
    if "begins" in bounds and not text.startswith(bounds["begins"]):
        raise InvalidField(f"{name}: begins with {' or '.join(bounds['begins'])}", field=name)
    return value


def _check_range(name: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:  # so written that NaN lies outside, too
        limit = most if value > most else least
        raise InvalidField(f"{name}: from {least:g} to {most:.15g}, not {value:.15g}", field=name, limit=limit)


def _switch(word: str) -> bool:
    """True or False, as people write them. A word that is neither is an error: a guess could leave a door open."""
    return {"true": True, "1": True, "false": False, "0": False}[word.lower()]


_READ: Final[Mapping[str, tuple[str, Callable[[str], Any]]]] = {
    "str": ("a text", str),
    "str | None": ("a text", str),
    "int": ("a whole number", int),
    "float": ("a number", float),
    "bool": ("true or false", _switch),
    "Path | None": ("a path", Path),
}
"""By the type of the field: what belongs there, and how it is read."""
