"""OpenFeature's remote evaluation protocol (OFREP 0.3.0): every OpenFeature SDK is a client.

Errors are its own, not RFC 9457: its clients read `errorCode` and `errorDetails`, and the statuses 400, 404 and 500.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from itertools import islice
from typing import Annotated, Any, Final

from flask import Blueprint, Response, request
from flask.typing import ResponseReturnValue
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from policies import errors, strict_json
from policies.asked import MAX_FACT_CHARACTERS, MAX_FACT_NAME, MAX_FACTS, MAX_UNIT_CHARACTERS, PRINTABLE, Fact, Moment
from policies.fingerprint import Fingerprint
from policies.model import Sha256, Slug
from policies.validation import validated
from policies.vocabulary import ThermalStatus, Workload
from service.api.asked_facts import facts_asked
from service.deciding.answer import not_modified
from service.deciding.flags import Evaluator, Flagged, behind, flagged, key_of
from service.live import release_asked
from service.web.door import check_device_app, device_app
from service.web.problems import answer_to
from service.web.reading import bounded_body

blueprint = Blueprint("ofrep", __name__, url_prefix="/ofrep/v1/evaluate/flags")
MAX_BYTES: Final = 256 * 1024
MAX_DEPTH: Final = 12
MAX_FLAGS: Final = 1_000
"""Flags in one answer: at half a millisecond each, what a client may have to wait for."""


class Context(BaseModel):
    """What of an evaluation context is ours. An app's own attributes stand beside it and are left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    unit: Annotated[str, StringConstraints(max_length=MAX_UNIT_CHARACTERS, pattern=PRINTABLE)] | None = Field(
        None, alias="targetingKey"
    )
    app: Slug | None = None
    report_id: Sha256 | None = None
    report: dict[str, Any] | None = None
    workload: Workload | None = None
    thermal: ThermalStatus | None = None
    battery_saver: bool | None = None

    def moment(self, raw: Mapping[str, Any]) -> Moment:
        """Who is asked for, and when. An empty targeting key is none; the app's own attributes are what it says."""
        return Moment(
            workload=self.workload or Workload.BURST,
            thermal=self.thermal,
            battery_saver=self.battery_saver,
            unit_id=self.unit or None,
            facts=_own_attributes(raw),
        )


def _own_attributes(raw: Mapping[str, Any]) -> dict[str, Fact]:
    """Attributes that conditions can ask about as `request.…`: plain and short, the first so many, none that is ours."""
    ours = {field.alias or name for name, field in Context.model_fields.items()}
    own = ((name, value) for name, value in raw.items() if name not in ours and len(name) <= MAX_FACT_NAME)
    plain = (
        (name, value)
        for name, value in own
        if isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= MAX_FACT_CHARACTERS)
    )
    return dict(islice(plain, MAX_FACTS))


@blueprint.post("/<key>")
def flag(key: str) -> ResponseReturnValue:
    """One flag."""
    raw, context = _context()
    content = release_asked(None)
    found = behind(content, key, context.app)
    check_device_app(found.app)
    told = Evaluator(content, _phone(context), context.moment(raw)).evaluate(found).to_json()
    return _answer(told | {"key": key}, raw, content.number)


@blueprint.post("")
def all_flags() -> ResponseReturnValue:
    """All flags, or those of `app` in the context. What is wrong with one flag does not keep the others back."""
    raw, context = _context()
    content = release_asked(None)
    app = context.app or device_app()
    check_device_app(app)
    found = list(islice(flagged(content, app), MAX_FLAGS + 1))
    if len(found) > MAX_FLAGS:
        raise errors.InvalidField(f"app: name one, there are over {MAX_FLAGS} flags", field="app", limit=MAX_FLAGS)
    evaluator = Evaluator(content, _phone(context), context.moment(raw))
    flags = [_flag_or_failure(evaluator, one) for one in found]
    return _answer({"flags": flags, "metadata": {"release": content.number}}, raw, content.number)


def _context() -> tuple[Mapping[str, Any], Context]:
    """(the context as sent, what of it is ours)."""
    raw = strict_json.loads(bounded_body(MAX_BYTES) or b"{}", max_bytes=MAX_BYTES, max_depth=MAX_DEPTH)
    if not isinstance(raw, dict):
        raise errors.MalformedJson("the body is an object with a context")
    stated = raw.get("context")
    return (stated or {}), validated(Context, {} if stated is None else stated)


def _phone(context: Context) -> Fingerprint | errors.NnfleetError | None:
    """The phone, read once for all flags; why it cannot be read; or None where none is named."""
    if context.report_id is None and context.report is None:
        return None
    try:
        return facts_asked(context.report_id, context.report)
    except errors.NnfleetError as error:
        return error


def _flag_or_failure(evaluator: Evaluator, found: Flagged) -> Mapping[str, Any]:
    try:
        return evaluator.evaluate(found).to_json()
    except errors.NnfleetError as error:
        return _failure(error, key_of(found))


def _answer(body: Mapping[str, Any], context: Any, release: int) -> Response:
    """The body with a strong ETag over context, release and body: clients keep an old one when their context changes."""
    text = json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()
    seed = json.dumps([release, context], sort_keys=True).encode()
    etag = f'"{hashlib.sha256(seed + text).hexdigest()[:32]}"'
    if not_modified(request.headers.get("If-None-Match", ""), etag):
        return Response(status=304, headers={"ETag": etag})
    return Response(text, headers={"ETag": etag}, content_type="application/json")


_ERROR_CODES: Final[dict[type[Exception], tuple[int, str]]] = {
    errors.UnknownFlag: (404, "FLAG_NOT_FOUND"),
    errors.UnknownRelease: (404, "FLAG_NOT_FOUND"),
    errors.TargetingKeyMissing: (400, "TARGETING_KEY_MISSING"),
    errors.MalformedJson: (400, "PARSE_ERROR"),
    errors.BodyTooLarge: (400, "PARSE_ERROR"),
    errors.BodyTooDeep: (400, "PARSE_ERROR"),
    errors.InvalidInput: (400, "INVALID_CONTEXT"),
    errors.NotKnown: (400, "INVALID_CONTEXT"),
}
"""Status and code by the nearest class in an error's ancestry; all else keeps its status and is GENERAL."""


def _failure(error: errors.NnfleetError, key: str | None) -> dict[str, Any]:
    _, code = _coded(error) or (500, "GENERAL")
    failure = {"errorCode": code, "errorDetails": error.detail}
    return {"key": key, **failure} if key is not None else failure


def _coded(error: Exception) -> tuple[int, str] | None:
    return next((_ERROR_CODES[kind] for kind in type(error).__mro__ if kind in _ERROR_CODES), None)


@blueprint.errorhandler(Exception)
def _error(error: Exception) -> Response:
    """Any error as clients of the protocol read it; what the problem's headers say is kept, a wait above all."""
    key = (request.view_args or {}).get("key")
    coded = _coded(error)
    if isinstance(error, errors.NnfleetError) and coded is not None:
        return Response(json.dumps(_failure(error, key)), status=coded[0], content_type="application/json")
    problem = answer_to(error)
    told = {"errorCode": "GENERAL", "errorDetails": problem.get_json()["detail"]} | ({"key": key} if key else {})
    problem.data, problem.content_type = json.dumps(told), "application/json"
    return problem
