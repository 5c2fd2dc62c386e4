"""Addresses that are meant to hurt: a name that nothing can have is not found, wherever it stands."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient
from operating import TOKEN

from service.app import create_app
from service.settings import Settings

RULES = create_app(Settings("postgresql://nobody@localhost/nothing")).url_map.iter_rules()
NAMED = sorted(
    (method, rule.rule)
    for rule in RULES
    if re.search(r"<(path:)?\w+>", rule.rule)
    for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
)
"""Routes with a name in their address."""


@pytest.mark.parametrize("name", ["%00", "camera%00"])
def test_a_name_with_nul_is_not_found(client: FlaskClient, name: str) -> None:
    for method, rule in NAMED:
        address = re.sub(r"<(path:)?\w+>", name, rule).replace("<int:number>", "1")
        answer = client.open(address, method=method, json={"note": "x"}, headers={"Authorization": f"Bearer {TOKEN}"})
        assert answer.status_code == 404, (method, rule)
        assert "/console" in rule or "not-found" in answer.text or "GENERAL" in answer.text, (method, rule)
