"""A draft laid over the live release: for each app that it concerns, what decisions are made from before and after."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from sqlmodel import Session

from policies.document import PolicyDocument
from policies.errors import InvalidField
from policies.model import ModelSpec
from policies.quarantine import PREFIX, Quarantine, under
from policies.revision import Kind
from policies.simulating.basis import Basis, Proposed
from service.releasing.release_content import Rankings, ReleaseContent, unpack_rankings
from service.store import releases


@dataclass(frozen=True, slots=True)
class Draft:
    """What somebody would change: the content of a revision, stored or not."""

    kind: Kind
    content: Mapping[str, Any]


def proposed(session: Session, draft: Draft, live: ReleaseContent, today: date) -> list[Proposed]:
    """One entry an app; raises InvalidField for a kind that decides nothing about phones."""
    made = _KINDS.get(draft.kind)
    if made is None:
        raise InvalidField(
            f"kind: {draft.kind} decide nothing about arms, so there is nothing to simulate", field="kind"
        )
    return list(made(session, draft.content, live, today))


def basis(live: ReleaseContent, app: str) -> Basis:
    """What the live release decides from for an app; in a rollout, for those who wait."""
    return Basis(live.documents.get(app), live.models.get(app, ()), _of_app(live.rankings, app))


def _of_app(rankings: Rankings, app: str) -> dict[str, Mapping[str, Mapping[str, Any]]]:
    return {stack: by_app[app] for stack, by_app in rankings.items() if app in by_app}


def _policy(session: Session, content: Mapping[str, Any], live: ReleaseContent, today: date) -> Iterable[Proposed]:
    document = PolicyDocument.model_validate(content)
    row = releases.release(session, live.number)
    held = [Quarantine.model_validate(raw) for raw in row.quarantines] if row else []
    before = basis(live, document.app)
    yield Proposed(document.app, before, Basis(under(document, held).in_force(today), before.models, before.learned))


def _model(_session: Session, content: Mapping[str, Any], live: ReleaseContent, _today: date) -> Iterable[Proposed]:
    spec = ModelSpec.model_validate(content)
    before = basis(live, spec.app)
    others = tuple(one for one in before.models if one.name != spec.name)
    yield Proposed(spec.app, before, Basis(before.document, (*others, spec), before.learned))


def _quarantine(
    _session: Session, content: Mapping[str, Any], live: ReleaseContent, _today: date
) -> Iterable[Proposed]:
    held = Quarantine.model_validate(content)
    for app, document in live.documents.items():
        if held.app in {None, app}:
            before = basis(live, app)
            others = tuple(deny for deny in document.denies if deny.id != f"{PREFIX}{held.deny.id}")
            after = under(document.model_copy(update={"denies": others}), [held])
            yield Proposed(app, before, Basis(after, before.models, before.learned))


def _recommendation(
    session: Session, content: Mapping[str, Any], live: ReleaseContent, _today: date
) -> Iterable[Proposed]:
    row = releases.recommendation(session, content["recommendation"])
    learned = unpack_rankings(row.rankings) if row else {}
    for app in live.documents:
        before = basis(live, app)
        yield Proposed(app, before, Basis(before.document, before.models, _of_app(learned, app)))


_Laid = Callable[[Session, Mapping[str, Any], ReleaseContent, date], Iterable[Proposed]]
_KINDS: Final[dict[Kind, _Laid]] = {
    Kind.POLICY: _policy,
    Kind.MODEL: _model,
    Kind.QUARANTINE: _quarantine,
    Kind.RECOMMENDATION: _recommendation,
}
