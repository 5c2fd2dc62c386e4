"""Policies as text: read, edited, compared with what is live, tried on the fleet, saved, and sent to review."""

from __future__ import annotations

from typing import Final

from flask import Response, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlmodel import Session
from werkzeug.wrappers import Response as Redirect

from policies.document import PolicyDocument
from policies.errors import InvalidField, UnknownApp, UnknownRevision
from policies.revision import ACCEPTED, Kind, State
from service.console import policy_editing
from service.console.paging import stated, stated_number
from service.console.policy_editing import Edit, checked_name
from service.console.revisions import MOST_CHANGES, changes_between
from service.console.text_lines import text_diff
from service.console.visitor import may
from service.context import services
from service.releasing.policy_text import as_yaml, with_base
from service.store import revisions
from service.store.tables import RevisionRow

HISTORY: Final = 100


def list_page() -> str:
    """Every app with a policy: what stands, what is live, what waits."""
    with Session(services().engine) as session:
        standing = revisions.standing(session, Kind.POLICY)
        live = {row.subject: row.number for row in revisions.in_state(session, Kind.POLICY, State.LIVE)}
    return render_template("console/policies.html", standing=standing, live=live)


def new() -> Redirect:
    """Go to the editor of an app that has no policy yet."""
    return redirect(url_for("console.policy", app=checked_name(stated(request.args, "app"))), 303)


def page(app: str) -> str:
    """The policy of an app: its text, to be edited by who may, and its history. Raises UnknownApp for who may not begin."""
    with Session(services().engine) as session:
        row = revisions.newest(session, Kind.POLICY, app)
    if row is None and not may("console.edit_policy"):
        raise UnknownApp(f"nobody stated a policy of an app {app!r} yet", field="app")
    return shown(app, policy_editing.begun(app, row))


def edit(app: str) -> ResponseReturnValue:
    """Load a file, try the text, save it, or send it to review, as the button says that was pressed."""
    checked_name(app)
    outcome = policy_editing.ACTS[policy_editing.act_asked()](policy_editing.read_form(app))
    return outcome if isinstance(outcome, Redirect) else (shown(app, outcome), outcome.status)


def shown(app: str, edit: Edit) -> str:
    """The page of an app around an edit."""
    with Session(services().engine) as session:
        history = revisions.page(session, Kind.POLICY, None, app, HISTORY)
        accepted = revisions.newest(session, Kind.POLICY, app, ACCEPTED)
        changes = changes_between(accepted.content if accepted else None, edit.content) if edit.content else []
    return render_template(
        "console/policy.html",
        app=app,
        edit=edit,
        history=history,
        accepted=accepted,
        changes=[change.to_json() for change in changes[:MOST_CHANGES]],
    )


def export(app: str) -> Response:
    """The text of a revision as a file, as `nnfleet policy pull` writes it; raises UnknownApp and UnknownRevision."""
    number = stated_number(request.args, "revision")
    with Session(services().engine) as session:
        row = revisions.newest(session, Kind.POLICY, app) if number is None else _of_app(session, app, number)
    if row is None:
        raise UnknownApp(f"nobody stated a policy of an app {app!r} yet", field="app")
    headers = {"Content-Disposition": f'attachment; filename="{app}.yaml"'}
    return Response(with_base(text_of(row), row.number or 0), mimetype="application/yaml", headers=headers)


def changes_page(app: str) -> str:
    """What changed between two revisions of an app's policy; raises UnknownRevision."""
    earlier, later = (stated_number(request.args, name) for name in ("from", "to"))
    if earlier is None or later is None:
        raise InvalidField("two revisions are compared: from and to", field="from")
    with Session(services().engine) as session:
        before, after = _of_app(session, app, earlier), _of_app(session, app, later)
    changes = changes_between(before.content, after.content)
    return render_template(
        "console/policy_changes.html",
        app=app,
        before=before,
        after=after,
        changes=[change.to_json() for change in changes[:MOST_CHANGES]],
        lines=text_diff(text_of(before), text_of(after)),
    )


def text_of(row: RevisionRow) -> str:
    """A stored policy as people read it."""
    return as_yaml(PolicyDocument.model_validate(row.content))


def _of_app(session: Session, app: str, number: int) -> RevisionRow:
    row = revisions.revision(session, number)
    if (row.kind, row.subject) != (Kind.POLICY, app):
        raise UnknownRevision(f"revision {number} is not of the policy of {app}", field="revision")
    return row
