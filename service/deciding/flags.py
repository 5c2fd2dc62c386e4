"""The flags of a release: `{app}.{model}` for every model, `{app}.{flag}` for every plain flag."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from policies.asked import Moment
from policies.errors import InvalidField, NnfleetError, UnknownFlag, UnknownReport
from policies.evaluation import Evaluated, evaluate_model, flag_key
from policies.fingerprint import Fingerprint
from policies.flag_evaluation import Caller, evaluate_flag
from policies.flags import Flag
from policies.model import ModelSpec
from policies.rollouts.staged_flags import evaluate_staged
from service.deciding.explained import explained
from service.releasing.release_content import ReleaseContent


@dataclass(frozen=True, slots=True)
class PlainFlag:
    """A plain flag with its app and its name there."""

    app: str
    name: str
    flag: Flag


Flagged = ModelSpec | PlainFlag


def flagged(content: ReleaseContent, app: str | None) -> Iterator[Flagged]:
    """Everything that has a flag, in one app or in all. A model goes before a plain flag of its name."""
    for name in sorted({*content.documents, *content.flags}):
        if app in {None, name}:
            models = content.models.get(name, ()) if name in content.documents else ()
            yield from models
            taken = {spec.name for spec in models}
            stated = content.flags[name].flags.items() if name in content.flags else ()
            yield from (PlainFlag(name, flag_name, flag) for flag_name, flag in stated if flag_name not in taken)


def behind(content: ReleaseContent, key: str, app: str | None) -> Flagged:
    """What has this key; raises UnknownFlag.

    Names may hold dots: of two readings the one with the longer app name holds. Where the caller names its `app`, the
    name of a flag alone is enough.
    """
    apps = (name for name in {*content.documents, *content.flags} if key.startswith(f"{name}."))
    readings = [(name, key[len(name) + 1 :]) for name in sorted(apps, key=len, reverse=True)]
    for owner, name in [*readings, *([(app, key)] if app else [])]:
        for found in flagged(content, owner):
            if found.name == name:
                return found
    raise UnknownFlag(f"flag {key} not found", field="key")


def key_of(found: Flagged) -> str:
    """The key by which all clients know it."""
    return flag_key(found.app, found.name)


class Evaluator:
    """Evaluates flags of one release for one caller.

    `phone` is None where the caller names none, and an error where it names one that cannot be read.
    """

    def __init__(self, content: ReleaseContent, phone: Fingerprint | NnfleetError | None, moment: Moment) -> None:
        self._content = content
        self._phone = phone
        self._moment = moment

    def evaluate(self, found: Flagged) -> Evaluated:
        """The flag; raises what is wrong with the phone where a model needs it, or TargetingKeyMissing."""
        if isinstance(found, PlainFlag):
            return self._plain(found)
        if self._phone is None:
            raise InvalidField("report_id: name a stored report, or send one as report", field="report_id")
        if isinstance(self._phone, NnfleetError):
            raise self._phone
        [made] = explained(self._phone, self._content, found.app, found.name, self._moment)
        return evaluate_model(made, self._content.number)

    def _plain(self, found: PlainFlag) -> Evaluated:
        stage, number = self._content.staged, self._content.number
        if stage is None:
            return evaluate_flag(found.app, found.name, found.flag, self._caller, number)
        stated = stage.candidate.flags.get(found.app)
        candidate = stated.flags.get(found.name) if stated else None
        return evaluate_staged(found.app, found.name, found.flag, candidate, stage.share_bp, self._caller, number)

    @cached_property
    def _caller(self) -> Caller:
        """A phone that has not reported yet still gets its plain flags: rules that ask about it do not hold."""
        if isinstance(self._phone, NnfleetError) and not isinstance(self._phone, UnknownReport):
            raise self._phone
        return Caller(self._phone if isinstance(self._phone, Fingerprint) else None, self._moment)
