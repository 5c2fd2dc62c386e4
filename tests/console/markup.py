"""A page taken apart."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Final

OWN_SCRIPT: Final = "/console/static/htmx.min.js"


class _Elements(HTMLParser):
    """Every start tag with its attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def elements(html: str) -> list[tuple[str, dict[str, str | None]]]:
    return _Elements(html).found


def runs(html: str) -> list[str]:
    """What of a page a browser would run, but for the one script that the page itself brings."""
    found = [(tag, facts) for tag, facts in elements(html) if tag in {"script", "img", "iframe", "object", "style"}]
    foreign = [tag for tag, facts in found if (tag, facts.get("src")) != ("script", OWN_SCRIPT) or "nonce" not in facts]
    return foreign + [name for _, facts in elements(html) for name in facts if name.startswith("on") or name == "style"]
