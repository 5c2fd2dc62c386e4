"""Evaluate plain flags: the first rule that holds gives the variant; what is not known holds nowhere, and is named."""

from __future__ import annotations

from functools import cached_property

from policies.asked import Moment
from policies.assign import bucket, certain, choose
from policies.errors import TargetingKeyMissing
from policies.evaluation import NO_VARIANT, Evaluated, Metadata, Reason, flag_key
from policies.facts import device_roots, supports_of
from policies.fingerprint import Fingerprint
from policies.flags import Flag, FlagRule
from policies.knowledge import WHOLE_BP
from policies.language import Context, Outcome

_HOLDS = Outcome(True)


class Caller:
    """Who asks: the phone, where it is named, and what it says of itself. Prepared when the first rule asks."""

    def __init__(self, facts: Fingerprint | None, moment: Moment) -> None:
        self._facts = facts
        self.moment = moment

    @cached_property
    def context(self) -> Context:
        """What conditions are asked about."""
        request = {"request": self.moment.facts}
        facts = self._facts
        return Context(request) if facts is None else Context(device_roots(facts) | request, supports_of(facts))


def evaluate_flag(app: str, name: str, flag: Flag, caller: Caller, release: int) -> Evaluated:
    """The flag for this caller; raises TargetingKeyMissing where a draw needs a unit and none is named."""
    key = flag_key(app, name)
    if flag.disabled:
        return Evaluated(key, NO_VARIANT, Reason.DISABLED, metadata=_metadata(flag, release))
    unknown: dict[str, None] = {}
    for rule in flag.rules:
        outcome = rule.condition.evaluate(caller.context) if rule.condition else _HOLDS
        unknown |= dict.fromkeys(outcome.unknown)
        if outcome.holds:
            variant, reason, drawn = _chosen(rule, key, caller)
            told = _metadata(flag, release, unknown, rule=rule.id, **drawn)
            return Evaluated(key, variant, reason, flag.variants[variant], told)
    reason = Reason.DEFAULT if flag.rules else Reason.STATIC
    told = _metadata(flag, release, unknown)
    if flag.default_variant is None:
        return Evaluated(key, NO_VARIANT, Reason.DEFAULT, metadata=told)
    return Evaluated(key, flag.default_variant, reason, flag.variants[flag.default_variant], told)


def _chosen(rule: FlagRule, key: str, caller: Caller) -> tuple[str, Reason, dict[str, int | float]]:
    """(variant, reason, bucket and propensity where one was drawn)."""
    if rule.variant is not None:
        return rule.variant, Reason.TARGETING_MATCH, {}
    weights_bp = [share.weight_bp for share in rule.split]
    unit_id = caller.moment.unit_id
    number = bucket(key, unit_id) if unit_id is not None else None
    place = certain(weights_bp) if number is None else choose(weights_bp, number)
    if place is None:
        raise TargetingKeyMissing(f"flag {key} is split: name a unit as targetingKey", field="targetingKey")
    variant = rule.split[place].variant
    weight_bp = sum(share.weight_bp for share in rule.split if share.variant == variant)
    drawn = {"bucket": number} if number is not None else {}
    return variant, Reason.SPLIT, {**drawn, "propensity": weight_bp / WHOLE_BP}


def _metadata(flag: Flag, release: int, unknown: dict[str, None] | None = None, **more: str | int | float) -> Metadata:
    """What we know of the answer, and what the flag's owner wants said with it, which goes before."""
    named = {"unknown": ", ".join(unknown)} if unknown else {}
    return {"release": release, **more, **named, **flag.metadata}
