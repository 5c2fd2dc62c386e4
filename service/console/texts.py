"""Policies and plain flags as text: read, edited, compared with what is live, saved, and sent to review."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from flask import Response, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlmodel import Session
from werkzeug.wrappers import Response as Redirect

from policies.errors import InvalidField, UnknownApp, UnknownRevision
from policies.revision import ACCEPTED, State
from service.console import text_editing
from service.console.own_apps import reader
from service.console.paging import stated, stated_number
from service.console.revisions import MOST_CHANGES, changes_between
from service.console.text_editing import Edit, checked_name
from service.console.text_kinds import PLAIN_FLAGS, POLICIES, TextKind
from service.console.text_lines import text_diff
from service.console.visitor import may
from service.context import services
from service.releasing.policy_text import with_base
from service.store import revisions
from service.store.tables import RevisionRow

HISTORY: Final = 100


@dataclass(frozen=True, slots=True)
class TextPages:
    """The pages of one kind of text."""

    of: TextKind

    def list_page(self) -> str:
        """Every app that has one: what stands, what is live, what waits."""
        with Session(services().engine) as session:
            standing = [row for row in revisions.standing(session, self.of.kind) if reader().sees(row.app)]
            live = {row.subject: row.number for row in revisions.in_state(session, self.of.kind, State.LIVE)}
        return render_template("console/texts.html", of=self.of, standing=standing, live=live)

    def new(self) -> Redirect:
        """Go to the editor of an app that has none yet."""
        return redirect(url_for(self.of.page, app=checked_name(stated(request.args, "app"))), 303)

    def page(self, app: str) -> str:
        """The text of an app, to be edited by who may, and its history. Raises UnknownApp for who may not begin."""
        with Session(services().engine) as session:
            row = revisions.newest(session, self.of.kind, app)
        if row is None and not may(self.of.edit):
            raise self._none(app)
        return self._shown(text_editing.begun(self.of, app, row))

    def edit(self, app: str) -> ResponseReturnValue:
        """Load a file, check the text, try it, save it, or send it to review, as the button says that was pressed."""
        checked_name(app)
        act = text_editing.ACTS[text_editing.act_asked()]
        outcome = act(text_editing.read_form(self.of, app))
        return outcome if isinstance(outcome, Redirect) else (self._shown(outcome), outcome.status)

    def export(self, app: str) -> Response:
        """The text of a revision as a file, which names it in its first line; raises UnknownApp and UnknownRevision."""
        number = stated_number(request.args, "revision")
        with Session(services().engine) as session:
            newest = number is None
            row = revisions.newest(session, self.of.kind, app) if newest else self._of_app(session, app, number or 0)
        if row is None:
            raise self._none(app)
        headers = {"Content-Disposition": f'attachment; filename="{app}{self.of.suffix}.yaml"'}
        text = with_base(self.of.yaml(row.content), row.number or 0)
        return Response(text, mimetype="application/yaml", headers=headers)

    def changes_page(self, app: str) -> str:
        """What changed between two revisions of an app's text; raises UnknownRevision."""
        earlier, later = (stated_number(request.args, name) for name in ("from", "to"))
        if earlier is None or later is None:
            raise InvalidField("two revisions are compared: from and to", field="from")
        with Session(services().engine) as session:
            before, after = self._of_app(session, app, earlier), self._of_app(session, app, later)
        changes = changes_between(before.content, after.content)
        return render_template(
            "console/text_changes.html",
            of=self.of,
            app=app,
            before=before,
            after=after,
            changes=[change.to_json() for change in changes[:MOST_CHANGES]],
            lines=text_diff(self.of.yaml(before.content), self.of.yaml(after.content)),
        )

    def _shown(self, edit: Edit) -> str:
        """The page of an app around an edit."""
        with Session(services().engine) as session:
            accepted = revisions.newest(session, self.of.kind, edit.app, ACCEPTED)
            history = revisions.page(session, self.of.kind, None, edit.app, HISTORY)
        changes = changes_between(accepted.content if accepted else None, edit.content) if edit.content else []
        return render_template(
            "console/text.html",
            of=self.of,
            app=edit.app,
            edit=edit,
            history=history,
            accepted=accepted,
            changes=[change.to_json() for change in changes[:MOST_CHANGES]],
        )

    def _of_app(self, session: Session, app: str, number: int) -> RevisionRow:
        row = revisions.revision(session, number)
        if (row.kind, row.subject) != (self.of.kind, app):
            raise UnknownRevision(f"revision {number} is not of the {self.of.one} of {app}", field="revision")
        return row

    def _none(self, app: str) -> UnknownApp:
        return UnknownApp(f"nobody stated the {self.of.one} of an app {app!r} yet", field="app")


policies: Final = TextPages(POLICIES)
flags: Final = TextPages(PLAIN_FLAGS)
