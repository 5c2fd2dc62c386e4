"""The flags of a release: `{app}.{model}` for every model."""

from __future__ import annotations

from collections.abc import Iterator

from policies.arm import ModelSpec
from policies.asked import Moment
from policies.errors import UnknownFlag
from policies.evaluation import Evaluated, evaluate_model, flag_key
from policies.fingerprint import Fingerprint
from service.explained import explained
from service.release_content import ReleaseContent


def model_of_flag(content: ReleaseContent, key: str) -> ModelSpec:
    """The model behind a key; raises UnknownFlag. Of two readings the one with the longer app name holds."""
    apps = (app for app in content.documents if key.startswith(f"{app}."))
    for app in sorted(apps, key=len, reverse=True):
        for spec in content.models.get(app, ()):
            if flag_key(app, spec.name) == key:
                return spec
    raise UnknownFlag(f"flag {key} not found", field="key")


def flagged_models(content: ReleaseContent, app: str | None) -> Iterator[ModelSpec]:
    """The models of an app that has a policy, or of all such apps."""
    for name, specs in content.models.items():
        if name in content.documents and app in {None, name}:
            yield from specs


def evaluate(facts: Fingerprint, content: ReleaseContent, spec: ModelSpec, moment: Moment) -> Evaluated:
    """The flag of one model; raises TargetingKeyMissing."""
    [made] = explained(facts, content, spec.app, spec.name, moment)
    return evaluate_model(made, content.number)
