"""Setting the stage over HTTP, as an operator would: models, policies, releases."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import httpx

EXPLORATION_BP: Final = 2_000
"""Share of units that explore before anything is known. Assumed."""


class Operator:
    """The management API with its token. Raises httpx.HTTPStatusError where the server refuses."""

    def __init__(self, http: httpx.Client, server: str, token: str) -> None:
        self._http = http
        self._server = server
        self._headers = {"Authorization": f"Bearer {token}"}

    def register(self, models: Iterable[dict[str, Any]]) -> None:
        """Register models and give each of their apps a policy."""
        apps = set()
        for spec in models:
            self._send("PUT", f"/v1/models/{spec['app']}/{spec['name']}", spec)
            apps.add(spec["app"])
        for app in sorted(apps):
            self._send("PUT", f"/v1/policies/{app}", {"schema": 1, "app": app, "exploration_bp": EXPLORATION_BP})

    def publish(self, note: str) -> int:
        """Publish a release; returns its number."""
        number: int = self._send("POST", "/v1/releases", {"note": note})["release"]
        return number

    def _send(self, method: str, path: str, body: Any) -> Any:
        answer = self._http.request(method, f"{self._server}{path}", json=body, headers=self._headers)
        answer.raise_for_status()
        return answer.json()
