"""A WSGI layer before Flask: decisions that are ready go out as they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from service.deciding.answer import not_modified
from service.deciding.lookup import Lookup

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_PREFIX: Final = "/v1/decisions/"


class FastLane:
    """Answers ready decisions by itself and hands everything else to `behind`."""

    def __init__(self, lookup: Lookup, behind: WSGIApplication) -> None:
        self._lookup = lookup
        self._behind = behind

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """The WSGI entry."""
        path: str = environ["PATH_INFO"]
        if path.startswith(_PREFIX) and environ["REQUEST_METHOD"] == "GET":
            app, _, report_id = path[len(_PREFIX) :].partition("/")
            answer = self._lookup.hit(app, report_id)
            if answer is not None:
                if not_modified(environ.get("HTTP_IF_NONE_MATCH", ""), answer.etag):
                    start_response("304 Not Modified", list(answer.validators))
                    return (b"",)
                start_response("200 OK", list(answer.headers))
                return (answer.body,)
        return self._behind(environ, start_response)
