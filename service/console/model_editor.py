"""Declare a model or change it: by form, from files that are kept, as a revision that somebody else approves."""

from __future__ import annotations

from typing import Final

from flask import redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlmodel import Session
from werkzeug.wrappers import Response as Redirect

from policies.errors import InvalidField
from policies.revision import ACCEPTED, Kind
from policies.vocabulary import Format, Precision
from service.console import model_editing
from service.console.model_editing import ModelEdit
from service.console.own_apps import own_apps, reader
from service.console.paging import stated
from service.console.revisions import MOST_CHANGES, changes_between, readable
from service.console.text_editing import checked_name
from service.context import services
from service.store import artifacts, revisions

OFFERED: Final = 200
"""Files that can be added from the form: the newest."""


def new() -> Redirect:
    """Go to the editor of a model, with the file that is to become a variant of it."""
    app, model = (checked_name(stated(request.args, name), name) for name in ("app", "model"))
    file, name = (stated(request.args, key) or None for key in ("file", "name"))
    return redirect(url_for("console.edit_model", app=app, model=model, file=file, name=name), 303)


def page(app: str, model: str) -> str:
    """The editor on what stands of a model, or on nothing; with a file that the address names added."""
    checked_name(app), checked_name(model, "model")
    with Session(services().engine) as session:
        row = revisions.newest(session, Kind.MODEL, f"{app}/{model}")
    edit = model_editing.begun(app, model, row)
    sha256 = stated(request.args, "file")
    named = {edit.fields[f"variants.{place}.sha256"] for place in edit.places}
    if sha256 and sha256 not in named:
        edit = model_editing.with_file(edit, sha256, stated(request.args, "name"))
    return _shown(edit)


def edit(app: str, model: str) -> ResponseReturnValue:
    """Check the form, add a file, try it, save it, or send it to review, as the button says that was pressed."""
    checked_name(app), checked_name(model, "model")
    act = model_editing.ACTS.get(request.form.get("act", ""))
    if act is None:
        raise InvalidField(f"act: one of {', '.join(model_editing.ACTS)}", field="act")
    outcome = act(model_editing.read_form(app, model))
    return outcome if isinstance(outcome, Redirect) else (_shown(outcome), outcome.status)


def _shown(edit: ModelEdit) -> str:
    with Session(services().engine) as session:
        offered = artifacts.newest(session, OFFERED, own_apps(), reader().name)
        accepted = revisions.newest(session, Kind.MODEL, edit.subject, ACCEPTED)
    before = accepted.content if accepted else {}
    changes = changes_between(readable(Kind.MODEL, before), readable(Kind.MODEL, edit.content)) if edit.content else []
    theirs = (
        changes_between(readable(Kind.MODEL, edit.other.content), readable(Kind.MODEL, edit.content or {}))
        if edit.other
        else []
    )
    return render_template(
        "console/model_edit.html",
        edit=edit,
        offered=[row for row in offered if row.sha256 not in edit.kept],
        accepted=accepted,
        changes=[change.to_json() for change in changes[:MOST_CHANGES]],
        apart=[change.to_json() for change in theirs[:MOST_CHANGES]],
        formats=list(Format),
        precisions=list(Precision),
        sizes={variant["sha256"]: variant["size_bytes"] for variant in before.get("variants", ())},
    )
