"""Errors on the wire: RFC 9457 problems with a stable code, the field and the limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final

import psycopg
import structlog
from flask import Flask, Response, json
from gunicorn.http import errors as unreadable
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from werkzeug import exceptions as http
from werkzeug.exceptions import HTTPException

from policies import errors
from service.intake import batch, encodings
from service.intake.admission import TryLater, spread_s
from service.web.worker import SilentClient

log = structlog.get_logger(__name__)


class Unauthenticated(errors.NnfleetError):
    """No key, or one that nobody here knows."""

    code: ClassVar[str] = "unauthenticated"


STATUS: Final[dict[type[errors.NnfleetError], int]] = {
    errors.MalformedJson: 400,
    errors.MalformedYaml: 400,
    encodings.MalformedBody: 400,
    errors.TargetingKeyMissing: 400,
    Unauthenticated: 401,
    errors.Forbidden: 403,
    errors.NotKnown: 404,
    SilentClient: 408,
    errors.Conflict: 409,
    errors.BodyTooLarge: 413,
    batch.TooManyRecords: 413,
    encodings.UnsupportedEncoding: 415,
    errors.InvalidInput: 422,
    errors.BaseRequired: 428,
    TryLater: 429,
}
"""The nearest class in an error's ancestry decides."""


def problem(status: int, code: str, detail: str, **members: Any) -> Response:
    """A problem document. Members that are None are left out."""
    body = {"type": f"urn:nnfleet:problem:{code}", "title": code.replace("-", " "), "status": status, "code": code}
    body |= {"detail": detail} | {name: value for name, value in members.items() if value is not None}
    return Response(json.dumps(body), status=status, content_type="application/problem+json")


# What RFC 9110 asks for beside the status: how to authenticate.
_HEADERS: Final[dict[type[errors.NnfleetError], dict[str, str]]] = {
    Unauthenticated: {"WWW-Authenticate": "Bearer"},
}


_MEMBERS: Final = (
    "field", "limit", "line", "column", "expected", "nearest", "choices", "limit_bytes", "limit_items",
    "splittable",
)  # fmt: skip


def problem_of(error: errors.NnfleetError) -> Response:
    """The problem document of one of our errors."""
    status = next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)
    members = {name: getattr(error, name, None) for name in _MEMBERS}
    made = problem(status, error.code, error.detail, **members)
    made.headers.update(_HEADERS.get(type(error), {}))
    if isinstance(error, encodings.UnsupportedEncoding):
        made.headers["Accept-Encoding"] = error.accepts
    if isinstance(error, TryLater):
        made.headers["Retry-After"] = str(spread_s(error.retry_after_s))
    return made


def _http_problem(error: HTTPException) -> Response:
    code = (error.name or "error").lower().replace(" ", "-")
    made = problem(error.code or 500, code, error.description or "")
    for name, value in error.get_headers():
        if name.lower() in {"allow", "content-range", "retry-after"}:
            made.headers[name] = value
    return made


_UNREADABLE: Final[tuple[tuple[type[unreadable.ParseException], type[HTTPException]], ...]] = (
    (unreadable.LimitRequestLine, http.RequestURITooLarge),
    (unreadable.LimitRequestHeaders, http.RequestHeaderFieldsTooLarge),
    (unreadable.ExpectationFailed, http.ExpectationFailed),
    (unreadable.UnsupportedTransferCoding, http.NotImplemented),
    (unreadable.ParseException, http.BadRequest),
)


def _unreadable_request(error: unreadable.ParseException) -> Response:
    """What gunicorn cannot read: a head, or a body sent in chunks."""
    return _http_problem(next(made for kind, made in _UNREADABLE if isinstance(error, kind))(str(error)))


def _database_problem(error: Exception) -> Response:
    log.warning("database-unavailable", error=str(error).splitlines()[0])
    made = problem(503, "database-unavailable", "the database does not answer; try again")
    made.headers["Retry-After"] = str(spread_s(5))
    return made


def _unexpected(error: Exception) -> Response:
    log.exception("unexpected-error", error=repr(error))
    return problem(500, "internal-error", "something went wrong here; it was logged")


_ANSWERS: Final[tuple[tuple[type[Exception], Callable[[Any], Response]], ...]] = (
    (errors.NnfleetError, problem_of),
    (HTTPException, _http_problem),
    # Gunicorn counts a header that we could not have sent among what it cannot read; it is a fault of ours.
    (unreadable.InvalidResponseHeader, _unexpected),
    (unreadable.InvalidResponseHeaderName, _unexpected),
    (unreadable.ParseException, _unreadable_request),
    (OperationalError, _database_problem),
    (psycopg.OperationalError, _database_problem),
    (PoolTimeout, _database_problem),
    (Exception, _unexpected),
)


def answer_to(error: Exception) -> Response:
    """The problem document of any error."""
    return next(made for kind, made in _ANSWERS if isinstance(error, kind))(error)


def register(app: Flask) -> None:
    """Answer every error of the app with a problem."""
    for kind, made in _ANSWERS:
        app.register_error_handler(kind, made)
