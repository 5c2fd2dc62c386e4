"""What actions of the console share: reading a form, asking twice, and saying what was done on the page that follows."""

from __future__ import annotations

from typing import Any, Final

from flask import flash, redirect, request, url_for
from werkzeug.wrappers import Response

from policies.errors import InvalidField

MOST_NOTE: Final = 500
"""Of what says why: as the API takes it."""


def said(name: str, most: int) -> str:
    """A text of the form, bounded and without the NUL that PostgreSQL refuses; "" where there is none."""
    text = request.form.get(name, "").replace("\0", "").replace("\r\n", "\n").strip()
    if len(text) > most:
        raise InvalidField(f"{name} has at most {most:,} characters", field=name, limit=most)
    return text


def said_why() -> str:
    """The note of the form that says why; raises InvalidField where there is none."""
    note = said("note", MOST_NOTE)
    if not note:
        raise InvalidField("note: say why; nothing was done", field="note", limit=MOST_NOTE)
    return note


def check_word(word: str) -> None:
    """Raise InvalidField unless the form repeats the word: what cannot be taken back is not done by a slip."""
    if request.form.get("confirm", "").strip() != word:
        raise InvalidField(f"type “{word}” to confirm; nothing was done", field="confirm")


def done(message: str, endpoint: str, **values: Any) -> Response:
    """Go on to a page of the console, which says what was done. A reload then repeats nothing."""
    flash(message)
    return redirect(url_for(f"console.{endpoint}", **values), 303)
