"""The editor of a model: what its form holds, and what each of its buttons does. Whatever is wrong, the form comes back."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from flask import request
from sqlmodel import Session
from werkzeug.wrappers import Response as Redirect

from policies.errors import BaseRequired, EditConflict, InvalidField, UnknownRevision
from policies.model import ModelSpec
from policies.revision import Kind
from policies.validation import complaints
from service.artifacts.declared import told_by
from service.console.forms import done, said
from service.console.model_form import Fields, document, fields_of, places, renumbered
from service.console.own_apps import seen_file
from service.console.proposing import proposed
from service.context import services
from service.releasing.revisions import Proposal
from service.releasing.stated_content import stated_content
from service.simulating.trying import tried
from service.store import artifacts, revisions
from service.store.tables import ArtifactRow, RevisionRow
from service.web.bodies import MAX_NOTE, whole_number
from service.web.door import actor

_NO_SLUG: Final = re.compile(r"[^A-Za-z0-9._-]+")
WHOLE: Final = "ModelSpec"
"""The place of a fault that concerns the model as a whole."""


@dataclass(frozen=True)
class ModelEdit:
    """A model in the editor. `base`: the revision it is an edit of; `kept`: its files that are kept here, by digest.

    `content` is the document it states, None while something is wrong; `errors` are by place. `other` is what somebody
    else saved meanwhile.
    """

    app: str
    model: str
    base: int | None
    fields: Fields
    note: str = ""
    kept: Mapping[str, ArtifactRow] = field(default_factory=dict)
    checked: bool = False
    content: dict[str, Any] | None = None
    errors: dict[str, str] = field(default_factory=dict)
    simulation: dict[str, Any] | None = None
    simulation_failed: str | None = None
    other: RevisionRow | None = None
    status: int = 200

    @property
    def subject(self) -> str:
        """What its revisions are of."""
        return f"{self.app}/{self.model}"

    @property
    def places(self) -> list[int]:
        """The places of its variants."""
        return places(self.fields)


def begun(app: str, model: str, row: RevisionRow | None) -> ModelEdit:
    """An edit of what stands; of a new model where nothing does."""
    fields = fields_of(row.content) if row else {"family": model, "max_accuracy_drop": "2"}
    return with_files(ModelEdit(app, model, row.number if row else None, fields))


def with_files(edit: ModelEdit) -> ModelEdit:
    """The edit with what is known of its files."""
    named = {edit.fields[f"variants.{place}.sha256"] for place in edit.places}
    with Session(services().engine) as session:
        return replace(edit, kept=artifacts.these(session, named))


def with_file(edit: ModelEdit, sha256: str, name: str) -> ModelEdit:
    """The edit with one variant more, of a file that is kept; raises UnknownArtifact."""
    with Session(services().engine) as session:
        row = seen_file(session, sha256)
    place = len(edit.places)
    variant = _NO_SLUG.sub("-", name).strip("-._") or f"{edit.model}-{row.precision or place}"
    new = {f"variants.{place}.id": variant, f"variants.{place}.sha256": sha256}
    return with_files(replace(edit, fields=edit.fields | new))


def read_form(app: str, model: str) -> ModelEdit:
    """What was sent, with what is wrong in it; raises UnknownRevision."""
    base = whole_number(request.form.get("base", ""))
    edit = ModelEdit(app, model, base, renumbered(request.form), note=said("note", MAX_NOTE))
    return _validated(with_files(edit))


def _validated(edit: ModelEdit) -> ModelEdit:
    raw = document(edit.fields, _before(edit))
    raw["variants"] = [variant | _told(edit, variant.get("sha256")) for variant in raw["variants"]]
    faults = complaints(ModelSpec, raw)
    if not faults:
        try:
            with Session(services().engine) as session:
                _, _, content = stated_content(session, Kind.MODEL, raw)
            return replace(edit, content=content)
        except InvalidField as error:  # what the API refuses beside: a file that its own target cannot run
            faults = [error]
    errors = {fault.field or WHOLE: fault.reason.removeprefix(f"{fault.field}: ") for fault in reversed(faults)}
    return replace(edit, errors=errors, status=422)


def _before(edit: ModelEdit) -> Mapping[str, Any]:
    if edit.base is None:
        return {"app": edit.app, "name": edit.model}
    with Session(services().engine) as session:
        row = revisions.revision(session, edit.base)
    if (row.kind, row.subject) != (Kind.MODEL, edit.subject):
        raise UnknownRevision(f"revision {edit.base} is not of the model {edit.subject}", field="base")
    return row.content


def _told(edit: ModelEdit, sha256: Any) -> dict[str, Any]:
    row = edit.kept.get(sha256)
    return told_by(row) if row else {}


def _check(edit: ModelEdit) -> ModelEdit:
    return replace(edit, checked=True)


def _add(edit: ModelEdit) -> ModelEdit:
    """What is not stated yet of a model that is being put together is no fault."""
    sha256 = request.form.get("file", "")
    if not sha256:
        return replace(edit, errors={"file": "choose a file first"}, status=422)
    return with_file(replace(edit, errors={}, content=None, status=200), sha256, "")


def _simulate(edit: ModelEdit) -> ModelEdit:
    if edit.content is None:
        return replace(edit, checked=True)
    found, why_not = tried(services().simulations, Kind.MODEL, edit.content, actor().name)
    return replace(edit, simulation=found, simulation_failed=why_not)


def _save(edit: ModelEdit) -> ModelEdit | Redirect:
    return _stored(edit, submit=False)


def _submit(edit: ModelEdit) -> ModelEdit | Redirect:
    return _stored(edit, submit=True)


def _stored(edit: ModelEdit, *, submit: bool) -> ModelEdit | Redirect:
    if edit.content is None:
        return edit
    if not edit.note:
        return replace(edit, errors={"note": "say why, for whoever reviews it"}, status=422)
    try:
        number = proposed(Proposal(Kind.MODEL, edit.subject, edit.content, edit.note, edit.base), submit=submit)
    except (EditConflict, BaseRequired):
        with Session(services().engine) as session:
            row = revisions.newest(session, Kind.MODEL, edit.subject)
        return replace(edit, base=row.number if row else None, other=row, status=409)
    what = "waits for a review" if submit else "is saved as a draft"
    return done(f"Revision {number} {what}.", "revision", number=number)


ACTS: Final[dict[str, Callable[[ModelEdit], ModelEdit | Redirect]]] = {
    "check": _check,
    "add": _add,
    "simulate": _simulate,
    "save": _save,
    "submit": _submit,
}
"""What the buttons of the form do, by their value."""
