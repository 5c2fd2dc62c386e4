"""What this installation runs with. Nothing is changed here: settings are the environment's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, Final

from flask import render_template, request

from service.console.paging import stated
from service.context import services
from service.settings import Settings, variable

HIDDEN: Final = "••••••••"
_CREDENTIALS: Final = re.compile(r"(?<=://)[^/@\s]+(?=@)")


@dataclass(frozen=True, slots=True)
class Line:
    """A setting as the page shows it. `value` is None where it is not set; `secret`: that is all that is shown."""

    name: str
    value: str | None
    is_default: bool
    secret: bool
    what: str


def page() -> str:
    """Every setting, with its value, where that comes from, and what it is for."""
    text = stated(request.args, "q").lower()
    found = [line for line in lines(services().settings) if text in f"{line.name} {line.what}".lower()]
    return render_template("console/settings.html", lines=found, text=text)


def lines(settings: Settings) -> Iterator[Line]:
    """The settings in their order. What stays out of `repr` stays out of here; so do credentials in addresses."""
    for setting in fields(settings):
        value, secret = getattr(settings, setting.name), not setting.repr
        yield Line(
            variable(setting), _shown(value, secret=secret), value == setting.default, secret, setting.metadata["what"]
        )


def _shown(value: Any, *, secret: bool) -> str | None:
    if value is None:
        return None
    return HIDDEN if secret else _CREDENTIALS.sub(HIDDEN, str(value))
