"""The management API of a running installation, from the command line."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any, Final
from urllib.parse import quote

from service.settings import state_folder, stated_manage_token

TIMEOUT_S: Final = 30
NOT_THERE: Final = "not-found"
"""The code of a 404 that says no more, as HEAD's."""


class Refused(Exception):
    """The server does not answer, or with a problem: `detail` and `code` are the problem's."""

    def __init__(self, detail: str, code: str | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server said. Headers are found however they are spelled: granian sends them in small letters."""

    status: int
    headers: Message
    body: Any


@dataclass(frozen=True, slots=True)
class Remote:
    """`server` is its address, `token` the management token or an API key."""

    server: str
    token: str

    def send(self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Reply:
        """Send JSON and read JSON; raises Refused."""
        data = None if body is None else json.dumps(body).encode()
        return self._asked(method, path, data, {"Content-Type": "application/json", **(headers or {})})

    def upload(self, path: str, file: Path) -> Reply:
        """Send a file, piece by piece; raises Refused."""
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(file.stat().st_size)}
        with file.open("rb") as content:
            return self._asked("PUT", path, content, headers)

    def has(self, path: str) -> bool:
        """Whether something is there; raises Refused where the server does not say."""
        try:
            self._asked("HEAD", path, None, {})
        except Refused as refused:
            if refused.code == NOT_THERE:
                return False
            raise
        return True

    def _asked(self, method: str, path: str, data: bytes | IO[bytes] | None, headers: Mapping[str, str]) -> Reply:
        try:
            with urllib.request.urlopen(self._request(method, path, data, headers), timeout=TIMEOUT_S) as answer:  # noqa: S310
                return Reply(answer.status, answer.headers, _json(answer.read()))
        except urllib.error.HTTPError as error:
            raise _refused(error) from error
        except (OSError, HTTPException) as error:
            raise Refused(f"{self.server} does not answer: {error}") from error
        except ValueError as error:  # no address, or no JSON: somebody else answers there
            raise Refused(f"{self.server} is no nnfleet: {error}") from error

    def _request(
        self, method: str, path: str, data: bytes | IO[bytes] | None, headers: Mapping[str, str]
    ) -> urllib.request.Request:
        if not self.server.startswith(("http://", "https://")):
            raise Refused(f"{self.server} is no address of a service: http://… or https://…")
        if not self.token.isascii():
            raise Refused("a token or key has letters, digits and signs of ASCII alone")
        return urllib.request.Request(  # noqa: S310 -- the address that the operator named
            f"{self.server.rstrip('/')}{quote(path)}",
            method=method,
            data=data,
            headers={"Authorization": f"Bearer {self.token}", **headers},
        )


def _json(body: bytes) -> Any:
    return json.loads(body) if body else None


def _refused(error: urllib.error.HTTPError) -> Refused:
    """`code: detail` of the problem, else the status."""
    try:
        problem = json.loads(error.read())
        return Refused(f"{problem['code']}: {problem['detail']}", problem["code"])
    except (ValueError, KeyError, TypeError):
        return Refused(f"status {error.code}", NOT_THERE if error.code == HTTPStatus.NOT_FOUND else None)


def stated_token() -> str:
    """`NNFLEET_MANAGE_TOKEN`, else the token that `nnfleet serve` keeps on this machine; raises Refused without both."""
    kept = state_folder() / "manage-token"
    token = stated_manage_token() or (kept.read_text("ascii").strip() if kept.exists() else None)
    if token is None:
        raise Refused("set NNFLEET_MANAGE_TOKEN to the management token or to a key that manages")
    return token
