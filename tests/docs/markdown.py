"""Reading our own Markdown: tables, code blocks, links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
_CODE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def text(name: str) -> str:
    """A document of this repository."""
    return (ROOT / name).read_text("utf-8")


def section(document: str, heading: str) -> str:
    """What stands under a heading of the second level, up to the next one; raises IndexError where it is missing."""
    return document.split(f"\n## {heading}\n")[1].split("\n## ", maxsplit=1)[0]


def rows(part: str) -> list[list[str]]:
    """Cells of the first table, without its head and without backticks. `\\|` is a bar inside a cell."""
    table = part[part.index("\n|") + 1 :].split("\n\n", maxsplit=1)[0]
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in table.splitlines()]
    return [[cell.strip().replace("`", "") for cell in row] for row in cells[2:]]


def code_blocks(part: str, language: str) -> list[str]:
    """Code blocks of a language ("" for those without one)."""
    return [body for found, body in _CODE.findall(part) if found == language]


def links(document: str) -> Iterator[str]:
    """Addresses of links and pictures outside code blocks."""
    return iter(_LINK.findall(_CODE.sub("", document)))


def documents() -> list[Path]:
    """All Markdown files of this repository, those of packages and of runs left out."""
    found = [*ROOT.glob("*.md"), *(path for top in OURS for path in (ROOT / top).rglob("*.md"))]
    return sorted(path for path in found if not any(part.startswith(".") for part in path.relative_to(ROOT).parts))


OURS = ("policies", "service", "ml", "client_sdk", "tests", "docs", "deploy")
