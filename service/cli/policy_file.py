"""Policies in files: YAML by the ending `.yaml` or `.yml`, else JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from policies.document import PolicyDocument
from policies.document_text import parse_document_text

_YAML: Final = frozenset({".yaml", ".yml"})


def policy_in(file: Path) -> PolicyDocument:
    """The policy in a file; raises what `parse_document_text` does."""
    media_type = "application/yaml" if file.suffix.lower() in _YAML else "application/json"
    return parse_document_text(file.read_bytes(), media_type=media_type)
