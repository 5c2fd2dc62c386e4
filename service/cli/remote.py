"""The management API of a running installation, from the command line."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from service.settings import state_folder, stated_manage_token

TIMEOUT_S: Final = 30


class Refused(Exception):
    """The server does not answer, or with a problem; the detail is the problem's."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server said."""

    status: int
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True, slots=True)
class Remote:
    """`server` is its address, `token` the management token or an API key."""

    server: str
    token: str

    def send(self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Reply:
        """Send JSON and read JSON; raises Refused."""
        asked = urllib.request.Request(  # noqa: S310 -- the address that the operator named
            f"{self.server.rstrip('/')}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", **(headers or {})},
        )
        try:
            with urllib.request.urlopen(asked, timeout=TIMEOUT_S) as answer:  # noqa: S310
                return Reply(answer.status, dict(answer.headers.items()), json.load(answer))
        except urllib.error.HTTPError as error:
            raise Refused(_detail(error)) from error
        except OSError as error:
            raise Refused(f"{self.server} does not answer: {error}") from error


def _detail(error: urllib.error.HTTPError) -> str:
    """`code: detail` of the problem, else the status."""
    try:
        problem = json.loads(error.read())
        return f"{problem['code']}: {problem['detail']}"
    except (ValueError, KeyError, TypeError):
        return f"status {error.code}"


def stated_token() -> str:
    """`NNFLEET_MANAGE_TOKEN`, else the token that `nnfleet serve` keeps on this machine; raises Refused without both."""
    kept = state_folder() / "manage-token"
    token = stated_manage_token() or (kept.read_text("ascii").strip() if kept.exists() else None)
    if token is None:
        raise Refused("set NNFLEET_MANAGE_TOKEN to the management token or to a key that manages")
    return token
