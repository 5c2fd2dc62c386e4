"""Setting the stage over HTTP, as an operator would: models, policies, releases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import httpx

from service.cli.demo.exploring import EXPLORATION_BP


class Operator:
    """The management API with its token. Raises httpx.HTTPStatusError where the server refuses."""

    def __init__(self, http: httpx.Client, server: str, token: str) -> None:
        self._http = http
        self._server = server
        self._headers = {"Authorization": f"Bearer {token}"}

    def register(
        self, models: Iterable[dict[str, Any]], *, policies: bool = True, exploration_bp: int = EXPLORATION_BP
    ) -> None:
        """Register models and, unless they have one, give each of their apps a policy.

        `exploration_bp`: share of units that explore before anything is known.
        """
        apps = set()
        for spec in models:
            self._send("PUT", f"/v1/models/{spec['app']}/{spec['name']}", spec)
            apps.add(spec["app"])
        for app in sorted(apps) if policies else ():
            self._send("PUT", f"/v1/policies/{app}", {"schema": 1, "app": app, "exploration_bp": exploration_bp})

    def publish(self, note: str) -> int:
        """Publish a release; returns its number."""
        number: int = self._send("POST", "/v1/releases", {"note": note})["release"]
        return number

    def roll_out(self, note: str, steps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Begin a rollout of what was registered since."""
        begun: dict[str, Any] = self._send("POST", "/v1/rollouts", {"note": note, "steps": list(steps)})
        return begun

    def rollout(self, number: int) -> dict[str, Any]:
        """How a rollout stands."""
        found: dict[str, Any] = self._send("GET", f"/v1/rollouts/{number}", None)
        return found

    def digests(self) -> dict[int, str]:
        """The digest of what each release holds, by its number."""
        return {row["release"]: row["sha256"] for row in self._send("GET", "/v1/releases", None)["releases"]}

    def _send(self, method: str, path: str, body: Any) -> Any:
        answer = self._http.request(method, f"{self._server}{path}", json=body, headers=self._headers)
        answer.raise_for_status()
        return answer.json()
