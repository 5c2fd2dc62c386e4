"""The pages that there are, as the app itself lists them: a new one is looked at without anybody adding it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from flask import Flask

from service.identity.access import ACCESS

NO_PAGES: Final = frozenset({"console.missing", "console.policy_file", "console.flags_file"})
"""Routes that answer no page: everything else, and files to download."""


def pages(app: Flask, names: Mapping[str, str]) -> list[str]:
    """The address of every page that asks for a person, with the arguments of its route filled in by name."""
    found = []
    for rule in app.url_map.iter_rules():
        access, methods = ACCESS[rule.endpoint], rule.methods or set()
        if access.scope is None and access.role is not None and "GET" in methods and rule.endpoint not in NO_PAGES:
            path = rule.rule
            for argument in rule.arguments:
                value = names.get(argument, "1")
                path = path.replace(f"<{argument}>", value).replace(f"<int:{argument}>", value)
            found.append(path)
    return sorted(found)
