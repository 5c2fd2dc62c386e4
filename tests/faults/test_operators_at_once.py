"""Operators edit the same policy at the same moment: one edit stands, the others are told, nothing is overwritten (R-F1)."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine

from service.server import running_server
from service.settings import Settings

pytestmark = pytest.mark.slow
OPERATORS, ROUNDS = 4, 10
POLICY = "/v1/policies/camera"


def test_of_edits_at_the_same_moment_one_stands_and_the_others_are_told_by_whom(
    engine: Engine, settings: Settings, say: Callable[[str], None]
) -> None:
    told: Counter[str] = Counter()
    headers = {"Authorization": f"Bearer {settings.manage_token}"}
    with running_server(settings) as server, httpx.Client(base_url=server, headers=headers, timeout=30) as reader:
        reader.put(POLICY, json=policy(0)).raise_for_status()
        for _ in range(ROUNDS):
            before = reader.get(POLICY)
            answers = at_once(server, headers, before.headers["ETag"])
            [(edit, taken)] = [(edit, answer) for edit, answer in answers.items() if answer.status_code == 200]
            after = reader.get(POLICY)
            assert (after.json()["exploration_bp"], after.headers["ETag"]) == (edit, taken.headers["ETag"])
            told.update(code(answer) for answer in answers.values())
    say(f"{ROUNDS} times {OPERATORS} edits of one policy at once: {dict(told)}")
    assert told == {"saved": ROUNDS, "edit-conflict": ROUNDS * (OPERATORS - 1)}


def policy(exploration_bp: int) -> dict[str, Any]:
    return {"schema": 1, "app": "camera", "exploration_bp": exploration_bp}


def code(answer: httpx.Response) -> str:
    return "saved" if answer.status_code == 200 else str(answer.json()["code"])


def at_once(server: str, headers: dict[str, str], base: str) -> dict[int, httpx.Response]:
    """What each operator is answered, by what it wanted to save."""
    gate = threading.Barrier(OPERATORS)
    answers: dict[int, httpx.Response] = {}

    def operator(edit: int) -> None:
        with httpx.Client(base_url=server, headers=headers, timeout=30) as http:
            http.get("/healthz")  # connected before the gate opens
            gate.wait()
            answers[edit] = http.put(POLICY, json=policy(edit), headers={"If-Match": base})

    threads = [threading.Thread(target=operator, args=(100 + number,)) for number in range(OPERATORS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return answers
