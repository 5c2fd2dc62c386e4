"""Quarantine: a deny with its evidence, an owner and an end, laid over the policies of one app or of all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import Field, model_validator

from policies.document import PolicyDocument
from policies.model import Slug
from policies.rules.arm_globs import check_glob
from policies.rules.deny import Deny
from policies.validation import Stated, validated

PREFIX = "quarantine."
"""Before the id of the deny, where an answer names it: an operator finds it among the quarantines."""


class Quarantine(Stated):
    """`app` is None for all apps. `evidence` are sentences with their figures, or links to them."""

    app: Slug | None = None
    deny: Deny
    evidence: Annotated[tuple[Annotated[str, Field(min_length=1, max_length=2_000)], ...], Field(min_length=1)]
    owner: Annotated[str, Field(min_length=1, max_length=200)]

    @model_validator(mode="after")
    def _ends(self) -> Quarantine:
        if self.deny.until is None:
            raise ValueError("a quarantine has an end: deny.until, its last day")
        return self


def parse_quarantine(raw: Any) -> Quarantine:
    """The quarantine in a JSON value; raises InvalidField for the first thing wrong, also for arms that cannot be."""
    held = validated(Quarantine, raw)
    for place, glob in enumerate(held.deny.arms):
        check_glob(f"deny.arms.{place}", glob)
    return held


def under(document: PolicyDocument, quarantines: Iterable[Quarantine]) -> PolicyDocument:
    """The document with the quarantines that concern its app among its denies."""
    denies = tuple(
        q.deny.model_copy(update={"id": f"{PREFIX}{q.deny.id}"}) for q in quarantines if q.app in {None, document.app}
    )
    return document.model_copy(update={"denies": (*document.denies, *denies)}) if denies else document
