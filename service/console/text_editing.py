"""The editor of policies and plain flags: what its form holds, and what each of its buttons does. Without an error nothing is lost:
whatever goes wrong, the page comes back with the text as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from flask import request
from sqlmodel import Session
from werkzeug.wrappers import Response as Redirect

from policies.document_text import MAX_YAML_BYTES, YAML_TYPES, faults_in, parse_text
from policies.errors import BaseRequired, EditConflict, InvalidField, InvalidInput
from service.console.forms import done, said
from service.console.proposing import proposed
from service.console.text_kinds import TextKind
from service.console.text_lines import Changed, Line, around, text_diff
from service.context import services
from service.releasing.policy_text import base_of
from service.releasing.revisions import Proposal
from service.simulating.trying import tried
from service.store import revisions
from service.store.tables import RevisionRow
from service.web.bodies import MAX_NOTE, whole_number
from service.web.door import actor

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_MEDIA_TYPE: Final = min(YAML_TYPES)


@dataclass(frozen=True)
class Edit:
    """The text in the editor and what is to be said of it. `base`: the revision it is an edit of.

    `checked`: somebody asked what is wrong with it; `content` is the document it states, None where it states none; `errors` are by field of the form. `other` is what
    somebody else saved meanwhile, with `apart`, how this text differs from it.
    """

    of: TextKind
    app: str
    text: str
    base: int | None
    note: str = ""
    checked: bool = False
    content: dict[str, Any] | None = None
    faults: tuple[InvalidInput, ...] = ()
    errors: dict[str, str] = field(default_factory=dict)
    simulation: dict[str, Any] | None = None
    simulation_failed: str | None = None
    other: RevisionRow | None = None
    apart: tuple[Changed, ...] = ()
    status: int = 200

    @property
    def lines(self) -> list[Line | None]:
        """The wrong lines, for reading beside the text."""
        return around(self.text, self.faults)


def checked_name(name: str, of: str = "app") -> str:
    """The name, where an app or a model can have it; raises InvalidField."""
    if not _NAME.fullmatch(name):
        detail = f"the name of an {of}" if of == "app" else f"the name of a {of}"
        detail += " has letters, digits and . _ -, begins with a letter or digit, and has 128 at most"
        raise InvalidField(detail, field=of)
    return name


def begun(of: TextKind, app: str, row: RevisionRow | None) -> Edit:
    """An edit of what stands; of something new where nothing does."""
    if row is None:
        return Edit(of, app, f"schema: 1\napp: {app}\n{of.start}", None)
    return Edit(of, app, of.yaml(row.content), row.number, content=row.content)


def act_asked() -> str:
    """The button that was pressed; raises InvalidField for one that is not there."""
    asked = request.form.get("act", "")
    if asked not in ACTS:
        raise InvalidField(f"act: one of {', '.join(ACTS)}", field="act")
    return asked


def read_form(of: TextKind, app: str) -> Edit:
    """What was sent, with what is wrong in the text."""
    base = whole_number(request.form.get("base", ""))
    text = request.form.get("text", "").replace("\r\n", "\n")
    return _checked(Edit(of, app, text, base, note=said("note", MAX_NOTE)))


def _checked(edit: Edit) -> Edit:
    faults = tuple(faults_in(edit.text, edit.of.written))
    if faults:
        return replace(edit, faults=faults, status=422)
    document = parse_text(edit.of.written, edit.text.encode(), media_type=_MEDIA_TYPE)
    if document.app != edit.app:
        line = next((n for n, text in enumerate(edit.text.split("\n"), 1) if text.startswith("app:")), 1)
        other = InvalidField(
            f"app: this is the {edit.of.one} of {edit.app!r}, the text says {document.app!r}", line=line, column=1
        )
        return replace(edit, faults=(other,), status=422)
    return replace(edit, content=edit.of.content(document))


def _load(edit: Edit) -> Edit:
    """The text of a file in place of the one in the form. A file that says which revision it was taken from is an edit
    of that.
    """
    file = request.files.get("file")
    body = file.read(MAX_YAML_BYTES + 1) if file else b""
    if not body:
        return replace(edit, errors={"file": "choose a file first"}, status=422)
    try:
        text = body.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        return replace(
            edit, errors={"file": f"the file is not UTF-8: {error.reason} at byte {error.start}"}, status=422
        )
    return _checked(Edit(edit.of, edit.app, text, base_of(text) or edit.base, note=edit.note))


def _check(edit: Edit) -> Edit:
    """Say what is wrong, and save nothing."""
    return replace(edit, checked=True)


def _simulate(edit: Edit) -> Edit:
    """Say what the text would change, and save nothing."""
    if edit.content is None or not edit.of.simulated:
        return replace(edit, checked=True)
    found, why_not = tried(services().simulations, edit.of.kind, edit.content, actor().name)
    return replace(edit, simulation=found, simulation_failed=why_not)


def _save(edit: Edit) -> Edit | Redirect:
    return _stored(edit, submit=False)


def _submit(edit: Edit) -> Edit | Redirect:
    return _stored(edit, submit=True)


def _stored(edit: Edit, *, submit: bool) -> Edit | Redirect:
    if edit.content is None:
        return edit
    if not edit.note:
        return replace(edit, errors={"note": "say why, for whoever reviews it"}, status=422)
    proposal = Proposal(edit.of.kind, edit.app, edit.content, edit.note, edit.base)
    try:
        number = proposed(proposal, submit=submit)
    except (EditConflict, BaseRequired):
        return _conflicting(edit)
    what = "waits for a review" if submit else "is saved as a draft"
    return done(f"Revision {number} {what}.", "revision", number=number)


def _conflicting(edit: Edit) -> Edit:
    """Both texts: from here on it is an edit of what somebody else saved, once its author has seen that."""
    with Session(services().engine) as session:
        row = revisions.newest(session, edit.of.kind, edit.app)
    if row is None:
        return replace(edit, base=None, status=409)
    apart = text_diff(edit.of.yaml(row.content), edit.of.yaml(edit.content or {}))
    return replace(edit, base=row.number, other=row, apart=tuple(apart), status=409)


ACTS: Final[dict[str, Callable[[Edit], Edit | Redirect]]] = {
    "load": _load,
    "check": _check,
    "simulate": _simulate,
    "save": _save,
    "submit": _submit,
}
"""What the buttons of the form do, by their value."""
