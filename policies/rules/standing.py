"""What a document states, made ready once to be asked about many devices."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from policies.fingerprint import Fingerprint
from policies.language import Condition
from policies.rules.deny import Deny, device_key
from policies.rules.globs import compiled
from policies.rules.rule import StatedRule
from policies.rules.scope import Scope, named_by, scope_of
from policies.rules.settings import StatedSettings
from policies.rules.when import condition


@dataclass(frozen=True, slots=True)
class ReadyDeny:
    """A deny with its globs and its condition compiled. `place` is its place, the narrowest first; `scope` is its
    condition's.
    """

    place: int
    deny: Deny
    arms: re.Pattern[str]
    condition: Condition | None
    scope: Scope


@dataclass(frozen=True, slots=True)
class ReadyRule:
    """A rule with its condition compiled."""

    rule: StatedRule
    condition: Condition
    scope: Scope


@dataclass(frozen=True, slots=True)
class ReadySettings:
    """Settings with their globs and their condition compiled."""

    stated: StatedSettings
    arms: re.Pattern[str]
    condition: Condition
    scope: Scope


class Standing:
    """Denies, found by the facts of a device that they name, rules and settings in their order. `named` is all that they
    read.
    """

    def __init__(
        self, denies: Sequence[Deny], rules: Sequence[StatedRule], settings: Sequence[StatedSettings] = ()
    ) -> None:
        self.rules = tuple(_ready_rule(rule) for rule in rules)
        self.settings = tuple(_ready_settings(stated) for stated in settings)
        asked = [*(rule.when for rule in rules), *(deny.when for deny in denies if deny.when)]
        asked += [stated.when for stated in settings]
        self.named = named_by(condition(when) for when in asked)
        # Fact of `device_key` → its value → denies that name the value; None holds those that name no fact.
        self._denies: defaultdict[tuple[int, str | int] | None, list[ReadyDeny]] = defaultdict(list)
        for place, deny in enumerate(sorted(denies, key=lambda d: (d.width, d.id))):
            ready = _ready_deny(place, deny)
            for key in _keys(deny):
                self._denies[key].append(ready)

    def denies_of(self, facts: Fingerprint, model: str) -> list[ReadyDeny]:
        """Denies whose cohort the device is in, as far as its own facts tell; the narrowest first."""
        keys = [None, *((fact, value) for fact, value in enumerate(device_key(facts)) if value is not None)]
        named = [ready for key in keys for ready in self._denies.get(key, ())]
        found = [
            r for r in named if not (r.deny.models and model not in r.deny.models) and r.deny.cohort.holds_device(facts)
        ]
        return sorted(found, key=lambda ready: ready.place)


def _ready_rule(rule: StatedRule) -> ReadyRule:
    asked = condition(rule.when)
    return ReadyRule(rule, asked, scope_of(asked))


def _ready_settings(stated: StatedSettings) -> ReadySettings:
    asked = condition(stated.when)
    return ReadySettings(stated, compiled(stated.arms), asked, scope_of(asked))


def _ready_deny(place: int, deny: Deny) -> ReadyDeny:
    asked = condition(deny.when) if deny.when else None
    return ReadyDeny(place, deny, compiled(deny.arms), asked, scope_of(asked) if asked else Scope.DEVICE)


def _keys(deny: Deny) -> list[tuple[int, str | int] | None]:
    """By which facts to find it: the values of the narrowest fact that it states of a device."""
    for fact, values in enumerate(deny.cohort.of_device):
        if values:
            return [(fact, value) for value in dict.fromkeys(values)]
    return [None]
