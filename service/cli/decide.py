"""`nnfleet decide`: one phone, one app, from the database or from files alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import typer

from policies import strict_json
from policies.asked import Moment
from policies.errors import NnfleetError, UnknownApp, UnknownModel, UnknownRelease
from policies.explaining.explain import Explanation, explain
from policies.explaining.explanation_json import explanations_json
from policies.fingerprint import Fingerprint, fingerprint
from policies.knowledge import Knowledge
from policies.model import ModelSpec
from policies.report import parse_report
from policies.validation import validated
from service import clock
from service.cli.database import open_database
from service.cli.explanation_text import brief, full
from service.cli.policy_file import policy_in
from service.deciding.explained import explained
from service.releasing.releases import load

_MAX_BYTES: Final = 8 * 1024 * 1024
_MAX_DEPTH: Final = 12


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says. Without `policy` the installation's database is read."""

    report: Path
    app: str
    model: str | None
    moment: Mapping[str, Any]
    release: int | None
    policy: Path | None
    models: Sequence[Path]
    data: Path | None


def stated_facts(stated: Iterable[str]) -> dict[str, Any]:
    """`name=value` pairs; a value that is JSON is what it says, any other is a text. Raises typer.BadParameter."""
    facts: dict[str, Any] = {}
    for pair in stated:
        name, mark, value = pair.partition("=")
        if not (name and mark):
            raise typer.BadParameter(f"{pair!r} is no name=value")
        try:
            facts[name] = json.loads(value)
        except (ValueError, RecursionError):
            facts[name] = value
    return facts


def decide(asked: Asked, whole: bool, as_json: bool) -> None:
    """Print the decision, or everything about it."""
    try:
        facts = fingerprint(parse_report(asked.report.read_bytes()))
        moment = validated(Moment, asked.moment)
        release, made = (
            _from_files(asked, asked.policy, facts, moment) if asked.policy else _from_database(asked, facts, moment)
        )
    except NnfleetError as error:
        raise typer.BadParameter(error.detail) from error
    if as_json:
        document = explanations_json(asked.app, release, made)
        typer.echo(json.dumps(document if whole else _shortened(document), ensure_ascii=False))
    else:
        typer.echo("\n".join(full(made, release) if whole else brief(made)))


def _shortened(document: dict[str, Any]) -> dict[str, Any]:
    kept = ("chosen", "ladder", "bucket", "propensity")
    models = {name: {key: model[key] for key in kept} for name, model in document["models"].items()}
    return {"app": document["app"], "release": document["release"], "models": models}


def _from_files(asked: Asked, policy: Path, facts: Fingerprint, moment: Moment) -> tuple[int | None, list[Explanation]]:
    """Against a policy and models that nobody published; nothing is learned of them."""
    document = policy_in(policy).in_force(clock.now().date())
    if document.app != asked.app:
        raise UnknownApp(f"{policy} is the policy of {document.app!r}, not of {asked.app!r}", field="app")
    specs = [spec for file in asked.models for spec in _specs(_read(file))]
    wanted = [spec for spec in specs if spec.app == asked.app and asked.model in {None, spec.name}]
    if not wanted:
        raise UnknownModel(f"no file holds {asked.model or 'a model'} of the app {asked.app!r}", field="model")
    return None, [explain(facts, document, spec, Knowledge(), moment) for spec in wanted]


def _specs(raw: Any) -> Iterable[ModelSpec]:
    return [validated(ModelSpec, one) for one in (raw if isinstance(raw, list) else [raw])]


def _read(file: Path) -> Any:
    return strict_json.loads(file.read_bytes(), max_bytes=_MAX_BYTES, max_depth=_MAX_DEPTH)


def _from_database(asked: Asked, facts: Fingerprint, moment: Moment) -> tuple[int | None, list[Explanation]]:
    with open_database(asked.data) as engine:
        content = load(engine, asked.release)
    if content is None:
        raise UnknownRelease("nothing has been published yet" if asked.release is None else "there is no such release")
    return content.number, explained(facts, content, asked.app, asked.model, moment)
