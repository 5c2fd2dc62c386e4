"""The operator's side of the API. In a module of its own: several folders have a `conftest`, and one hides another."""

from __future__ import annotations

from typing import Any

from builders import make_model_json
from flask.testing import FlaskClient

TOKEN = "t"


class Operator:
    """The management API with its token."""

    def __init__(self, client: FlaskClient) -> None:
        self._client = client

    def send(self, method: str, path: str, body: Any = None) -> Any:
        return self._client.open(path, method=method, json=body, headers={"Authorization": f"Bearer {TOKEN}"})

    def publish(self, note: str = "first", policy: dict[str, Any] | None = None, **model: Any) -> int:
        """Register the model, state the policy, publish both; returns the release."""
        document = {"schema": 1, "app": "camera"} | (policy or {})
        for path, body in (
            ("/v1/models/camera/segmentation", make_model_json(**model)),
            ("/v1/policies/camera", document),
        ):
            answer = self.send("PUT", path, body)
            assert answer.status_code == 200, answer.text
        number: int = self.send("POST", "/v1/releases", {"note": note}).get_json()["release"]
        return number
