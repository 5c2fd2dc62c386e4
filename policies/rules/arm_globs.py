"""Globs over arm ids that no arm of any phone could match: typos, told when a policy or a quarantine is saved.

Not part of the types: what is stored stays readable when a delegate or a format gets another name.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import product
from typing import Final

from policies import catalog
from policies.document import PolicyDocument
from policies.errors import InvalidField
from policies.nearest import did_you_mean, nearest
from policies.rules.globs import compiled
from policies.rules.rule import UseLadder, UseSplit
from policies.vocabulary import Delegate, Format, Precision

EXPECTED: Final = "a glob over {precision}.{format}.{delegate}, with .{accelerator} after nnapi"
_NEW_DRIVER: Final = "new-driver"
"""Stands for drivers that nobody has seen yet: a glob may name one, so only what stands before it is checked."""


def check_globs(document: PolicyDocument) -> None:
    """Raises InvalidField for the first glob that matches no arm that could be, with the nearest known word."""
    for field, glob in _globs(document):
        check_glob(field, glob)


def check_glob(field: str, glob: str) -> None:
    """Raises InvalidField where it matches no arm that could be."""
    if not _possible(glob):
        close = _nearest_word(glob)
        detail = f"{field}: no arm can be called {glob!r}{did_you_mean(close)}"
        raise InvalidField(detail, field=field, expected=EXPECTED, nearest=close)


def _globs(document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """(field, glob) of all that a document states."""
    for place, deny in enumerate(document.denies):
        yield from ((f"denies.{place}.arms.{n}", glob) for n, glob in enumerate(deny.arms))
    for place, stated in enumerate(document.settings):
        yield from ((f"settings.{place}.arms.{n}", glob) for n, glob in enumerate(stated.arms))
    for place, rule in enumerate(document.rules):
        here = f"rules.{place}.use"
        if isinstance(rule.use, UseLadder):
            yield from ((f"{here}.ladder.{n}", glob) for n, glob in enumerate(rule.use.ladder))
        elif isinstance(rule.use, UseSplit):
            for part, split in enumerate(rule.use.split):
                yield from ((f"{here}.split.{part}.ladder.{n}", glob) for n, glob in enumerate(split.ladder))


@lru_cache(maxsize=16_384)
def _possible(glob: str) -> bool:
    before, nnapi, driver = glob.partition(f".{Delegate.NNAPI}.")
    pattern = compiled((f"{before}{nnapi}{_NEW_DRIVER}" if driver else glob,))
    return any(pattern.match(arm) for arm in _arms())


@cache
def _arms() -> tuple[str, ...]:
    """Every id that an arm could have, with one name for all drivers, and those of the drivers that are known."""
    kinds = [".".join(parts) for parts in product(Precision, Format, Delegate)]
    drivers = [_NEW_DRIVER, *catalog.accelerators().entries]
    nnapi = [f"{kind}.{driver}" for kind in kinds if kind.endswith(f".{Delegate.NNAPI}") for driver in drivers]
    return (*kinds, *nnapi)


def _nearest_word(glob: str) -> str | None:
    """The word nearest to the first part of the glob that is none."""
    words = [*Precision, *Format, *Delegate, *catalog.accelerators().entries]
    unknown = (part for part in glob.split(".") if part and not set(part) & set("*?[") and part not in words)
    return next((close for part in unknown if (close := nearest(part, words))), None)
