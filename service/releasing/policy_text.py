"""Policies and plain flags as text for people: YAML whose first line may say which revision it was taken from."""

from __future__ import annotations

import re
from typing import Any, Final

import yaml

from policies.document import PolicyDocument
from policies.flags import FlagDocument

_HEAD: Final = re.compile(r"# revision (\d{1,9})\n")


def as_yaml(document: PolicyDocument | FlagDocument) -> str:
    """The document as text: fields in the order that the documentation has, defaults left out."""
    stated: dict[str, Any] = document.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return yaml.safe_dump({"schema": 1} | stated, sort_keys=False, allow_unicode=True, width=120)


def base_of(text: str) -> int | None:
    """The revision that a text says it was taken from; None where it says none."""
    head = _HEAD.match(text)
    return int(head[1]) if head else None


def with_base(text: str, revision: int) -> str:
    """The text with that revision in its first line, and all others as they are."""
    head = _HEAD.match(text)
    return f"# revision {revision}\n{text[head.end() :] if head else text}"
