"""Explanations against a release: what the console shows, the API answers and the command line prints."""

from __future__ import annotations

from policies.asked import Moment
from policies.errors import UnknownApp, UnknownModel
from policies.explaining.explain import Explanation, explain
from policies.explaining.explain_trial import in_trial
from policies.fingerprint import Fingerprint
from policies.model import ModelSpec
from service.releasing.release_content import ReleaseContent, Staged


def explained(
    facts: Fingerprint, content: ReleaseContent, app: str, model: str | None, moment: Moment
) -> list[Explanation]:
    """The explanation of one model, or of all models of the app; raises UnknownApp or UnknownModel."""
    document = content.documents.get(app)
    if document is None:
        raise UnknownApp(f"release {content.number} has no app {app!r}", field="app")
    knowledge = content.knowledge(facts.driver_stack, app)
    made = [explain(facts, document, spec, knowledge, moment) for spec in _models(content, app, model)]
    return [_in_rollout(one, content.staged, facts, moment) for one in made] if content.staged else made


def _in_rollout(control: Explanation, stage: Staged, facts: Fingerprint, moment: Moment) -> Explanation:
    """What the unit gets in a rollout; what only one side has waits for its end."""
    app, name = control.model.app, control.model.name
    document = stage.candidate.documents.get(app)
    spec = next((spec for spec in stage.candidate.models.get(app, ()) if spec.name == name), None)
    if document is None or spec is None:
        return control
    knowledge = stage.candidate.knowledge(facts.driver_stack, app)
    return in_trial(control, explain(facts, document, spec, knowledge, moment), stage.share_bp)


def _models(content: ReleaseContent, app: str, name: str | None) -> list[ModelSpec]:
    found = [spec for spec in content.models.get(app, ()) if name in {None, spec.name}]
    if not found:
        what = "no models" if name is None else f"no model {name!r}"
        raise UnknownModel(f"release {content.number} has {what} of the app {app!r}", field="model")
    return found
