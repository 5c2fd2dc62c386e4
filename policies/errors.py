"""What can be wrong with an input, as one tree. `code` is stable: clients and tests hold on to it.

NnfleetError
├── InvalidInput        the sender has to change something
│   ├── MalformedJson     body is no JSON, or holds NaN, an infinity or a key twice
│   ├── MalformedYaml     body is no YAML, or uses what could be misread: a key twice, anchors, tags
│   ├── BodyTooLarge      more bytes than the limit
│   ├── BodyTooDeep       nested deeper than the limit
│   ├── InvalidField      a field has the wrong type or lies outside its limits
│   ├── UnclearTime       a local time that clocks skip, or show twice
│   ├── ConditionError    a condition that the policy language does not take
│   ├── DigestMismatch    the id in the address is not the digest of the body
│   ├── UnitIdentifier    a field names a person or a single unit
│   └── TargetingKeyMissing   a flag is split and no unit is named
├── Conflict            right in itself, but not now
│   ├── EditConflict      somebody else edited the same thing meanwhile
│   ├── WrongState        a revision or rollout is not where this step starts
│   ├── RolloutActive     a rollout holds what devices see
│   └── NothingToRollOut  what is approved is what is live
├── Forbidden           known, but not entitled
│   ├── NotAllowed        the caller's scope, role or app does not go so far
│   └── SelfApproval      the author may not approve
├── BaseRequired        an edit has to say what it is an edit of
└── NotKnown            nothing of that name
    ├── UnknownReport
    ├── UnknownApp
    ├── UnknownModel
    ├── UnknownRelease
    ├── UnknownFlag
    ├── UnknownRevision
    ├── UnknownSimulation
    ├── UnknownRollout
    └── UnknownFinding
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar


class NnfleetError(Exception):
    """Base of all. `field` names the place in the input (JSON pointer style), `limit` the bound it broke."""

    code: ClassVar[str] = "error"

    def __init__(self, detail: str, *, field: str | None = None, limit: int | float | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.field = field
        self.limit = limit


class InvalidInput(NnfleetError):
    """The sender has to change something.

    Where the input is a text that a person wrote, `line` and `column` (from 1) say where, `expected` what could stand
    there, and `nearest` which known name the written one resembles most. `reason` is the detail without the place.
    """

    code = "invalid-input"

    def __init__(
        self,
        detail: str,
        *,
        field: str | None = None,
        limit: int | float | None = None,
        line: int | None = None,
        column: int | None = None,
        expected: str | None = None,
        nearest: str | None = None,
    ) -> None:
        placed = detail if line is None else f"line {line}, column {column}: {detail}"
        super().__init__(placed, field=field, limit=limit)
        self.reason = detail
        self.line, self.column = line, column
        self.expected, self.nearest = expected, nearest


class MalformedJson(InvalidInput):
    """The body is no JSON, or holds NaN, an infinity or a key twice."""

    code = "malformed-json"


class MalformedYaml(InvalidInput):
    """The body is no YAML, or uses what could be misread: a key twice, anchors, tags."""

    code = "malformed-yaml"


class BodyTooLarge(InvalidInput):
    """More bytes than the limit, which is said again as `limit_bytes`.

    Of a batch `limit_items` says how many records it may hold, and `splittable` whether fewer would help; None where that
    was not seen.
    """

    code = "body-too-large"

    def __init__(
        self, detail: str, *, limit: int, limit_items: int | None = None, splittable: bool | None = None
    ) -> None:
        super().__init__(detail, limit=limit)
        self.limit_bytes = limit
        self.limit_items = limit_items
        self.splittable = splittable


class BodyTooDeep(InvalidInput):
    """Nested deeper than the limit."""

    code = "body-too-deep"


class InvalidField(InvalidInput):
    """A field has the wrong type or lies outside its limits."""

    code = "invalid-field"


class UnclearTime(InvalidInput):
    """A local time that clocks of its zone skip, or show twice; `choices` are the two that could be meant, as to state them."""

    code = "unclear-time"

    def __init__(self, detail: str, *, field: str, choices: Sequence[str]) -> None:
        super().__init__(detail, field=field)
        self.choices = list(choices)


class ConditionError(InvalidInput):
    """A condition that the policy language does not take."""

    code = "invalid-condition"


class DigestMismatch(InvalidInput):
    """The id in the address is not the digest of the body."""

    code = "digest-mismatch"


class UnitIdentifier(InvalidInput):
    """A field names a person or a single unit; a report describes a class of devices."""

    code = "unit-identifier"


class TargetingKeyMissing(InvalidInput):
    """A flag is split and no unit is named that could be drawn."""

    code = "targeting-key-missing"


class Conflict(NnfleetError):
    """Right in itself, but not now: look again, then decide."""

    code = "conflict"


class EditConflict(Conflict):
    """Somebody else edited the same thing meanwhile; nothing was overwritten."""

    code = "edit-conflict"


class WrongState(Conflict):
    """A revision or rollout is not in a state that this step starts from."""

    code = "wrong-state"


class RolloutActive(Conflict):
    """A rollout holds what devices see: it is finished, or aborted, before anything else is published."""

    code = "rollout-active"


class NothingToRollOut(Conflict):
    """What is approved is what is live, or nothing is live yet."""

    code = "nothing-to-roll-out"


class Forbidden(NnfleetError):
    """Known, but not entitled."""

    code = "forbidden"


class NotAllowed(Forbidden):
    """The caller's scope, role or app does not go so far."""

    code = "not-allowed"


class SelfApproval(Forbidden):
    """The author may not approve what they wrote."""

    code = "self-approval"


class BaseRequired(NnfleetError):
    """An edit of something that exists has to name the revision it is an edit of."""

    code = "base-required"


class NotKnown(NnfleetError):
    """Nothing of that name."""

    code = "unknown"


class UnknownReport(NotKnown):
    """No report of that id was uploaded yet."""

    code = "unknown-report"


class UnknownApp(NotKnown):
    """No app of that name is in the release."""

    code = "unknown-app"


class UnknownModel(NotKnown):
    """No model of that name is registered for the app."""

    code = "unknown-model"


class UnknownRelease(NotKnown):
    """No release of that number, or none at all yet."""

    code = "unknown-release"


class UnknownFlag(NotKnown):
    """No model and no plain flag of that key is in the release."""

    code = "unknown-flag"


class UnknownRevision(NotKnown):
    """No revision of that number, or of that subject."""

    code = "unknown-revision"


class UnknownSimulation(NotKnown):
    """No run of a simulation of that number."""

    code = "unknown-simulation"


class UnknownRollout(NotKnown):
    """No rollout of that number."""

    code = "unknown-rollout"


class UnknownFinding(NotKnown):
    """No detector ever saw anything of that id."""

    code = "unknown-finding"
