"""OpenFeature's remote evaluation protocol (OFREP 0.3.0): every OpenFeature SDK is a client.

Errors are its own, not RFC 9457: its clients read `errorCode` and `errorDetails`, and the statuses 400, 404 and 500.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Any, Final

from flask import Blueprint, Response, request
from flask.typing import ResponseReturnValue
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from policies import errors, strict_json
from policies.arm import ModelSpec, Sha256, Slug
from policies.asked import MAX_UNIT_CHARACTERS, Moment
from policies.evaluation import flag_key
from policies.fingerprint import Fingerprint
from policies.validation import validated
from policies.vocabulary import ThermalStatus, Workload
from service.api.asked_facts import facts_asked
from service.api.devices import bounded_body
from service.api.problems import answer_to
from service.flags import evaluate, flagged_models, model_of_flag
from service.live import release_asked
from service.lookup import not_modified
from service.release_content import ReleaseContent

blueprint = Blueprint("ofrep", __name__, url_prefix="/ofrep/v1/evaluate/flags")
MAX_BYTES: Final = 256 * 1024
MAX_DEPTH: Final = 12
MAX_FLAGS: Final = 1_000
"""Flags in one answer: at half a millisecond each, what a client may have to wait for."""


class Context(BaseModel):
    """What of an evaluation context is ours. An app's own attributes stand beside it and are left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    unit: Annotated[str, StringConstraints(max_length=MAX_UNIT_CHARACTERS)] | None = Field(None, alias="targetingKey")
    app: Slug | None = None
    report_id: Sha256 | None = None
    report: dict[str, Any] | None = None
    workload: Workload | None = None
    thermal: ThermalStatus | None = None
    battery_saver: bool | None = None

    @property
    def moment(self) -> Moment:
        """Who is asked for, and when. An empty targeting key is none."""
        return Moment(
            workload=self.workload or Workload.BURST,
            thermal=self.thermal,
            battery_saver=self.battery_saver,
            unit_id=self.unit or None,
        )


@blueprint.post("/<key>")
def flag(key: str) -> ResponseReturnValue:
    """One flag."""
    raw, context = _context()
    content = release_asked(None)
    spec = model_of_flag(content, key)
    facts = facts_asked(context.report_id, context.report)
    return _answer(evaluate(facts, content, spec, context.moment).to_json(), raw, content.number)


@blueprint.post("")
def all_flags() -> ResponseReturnValue:
    """All flags, or those of `app` in the context. What is wrong with one flag does not keep the others back."""
    raw, context = _context()
    content = release_asked(None)
    specs = list(flagged_models(content, context.app))
    if len(specs) > MAX_FLAGS:
        raise errors.InvalidField(f"app: name one, there are over {MAX_FLAGS} flags", field="app", limit=MAX_FLAGS)
    facts = _facts_or_error(context)
    flags = [_flag_or_failure(facts, content, spec, context.moment) for spec in specs]
    return _answer({"flags": flags, "metadata": {"release": content.number}}, raw, content.number)


def _context() -> tuple[Any, Context]:
    """(the context as sent, what of it is ours)."""
    raw = strict_json.loads(bounded_body(MAX_BYTES) or b"{}", max_bytes=MAX_BYTES, max_depth=MAX_DEPTH)
    if not isinstance(raw, dict):
        raise errors.MalformedJson("the body is an object with a context")
    stated = raw.get("context") or {}
    return stated, validated(Context, stated)


def _facts_or_error(context: Context) -> Fingerprint | errors.NnfleetError:
    """The phone, read once for all flags; or why there is none, which each flag then says."""
    try:
        return facts_asked(context.report_id, context.report)
    except errors.NnfleetError as error:
        return error


def _flag_or_failure(
    facts: Fingerprint | errors.NnfleetError, content: ReleaseContent, spec: ModelSpec, moment: Moment
) -> Mapping[str, Any]:
    try:
        if isinstance(facts, errors.NnfleetError):
            raise facts
        return evaluate(facts, content, spec, moment).to_json()
    except errors.NnfleetError as error:
        return _failure(error, flag_key(spec.app, spec.name))


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
    errors.NnfleetError: (400, "INVALID_CONTEXT"),
}
"""Status and code by the nearest class in an error's ancestry; what is not ours keeps its status and is GENERAL."""


def _failure(error: errors.NnfleetError, key: str | None) -> dict[str, Any]:
    _, code = _coded(error) or (500, "GENERAL")
    failure = {"errorCode": code, "errorDetails": error.detail}
    return {"key": key, **failure} if key is not None else failure


def _coded(error: Exception) -> tuple[int, str] | None:
    return next((_ERROR_CODES[kind] for kind in type(error).__mro__ if kind in _ERROR_CODES), None)


@blueprint.errorhandler(Exception)
def _error(error: Exception) -> Response:
    """Any error as clients of the protocol read it; a wait that the problem names is kept."""
    key = (request.view_args or {}).get("key")
    if isinstance(error, errors.NnfleetError):
        status, _ = _coded(error) or (500, "")
        return Response(json.dumps(_failure(error, key)), status=status, content_type="application/json")
    problem = answer_to(error)
    told = {"errorCode": "GENERAL", "errorDetails": problem.get_json()["detail"]} | ({"key": key} if key else {})
    kept = {name: value for name, value in problem.headers.items() if name in {"Retry-After", "Allow"}}
    return Response(json.dumps(told), problem.status_code, kept, content_type="application/json")
