"""OpenFeature's own scenarios, through its own Python client, against the real server (R-F6)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from openfeature import api
from openfeature.client import OpenFeatureClient
from openfeature.contrib.provider.ofrep import OFREPProvider
from openfeature.evaluation_context import EvaluationContext
from operating import Operator

from service.server import running_server
from service.settings import Settings
from tests.service.openfeature_scenarios import FLAGS, NOT_THE_SERVER_S, ROWS, SCENARIOS, Row


@pytest.fixture
def openfeature(settings: Settings, operator: Operator) -> Iterator[OpenFeatureClient]:
    """A client for the flags of the app `harness`, by their bare names: the context names the app."""
    stated = operator.send("PUT", "/v1/flags/harness", {"app": "harness", "flags": FLAGS})
    assert stated.status_code == 200, stated.text
    operator.publish()
    with running_server(settings, workers=1) as url:
        api.set_evaluation_context(EvaluationContext(attributes={"app": "harness"}))
        api.set_provider(OFREPProvider(url))
        yield api.get_client()
        api.clear_providers()
        api.set_evaluation_context(EvaluationContext())


def test_every_row_that_a_server_can_influence_passes(openfeature: OpenFeatureClient) -> None:
    failed = [wrong for row in ROWS if (wrong := _wrong(openfeature, row))]
    assert failed == []


def _wrong(openfeature: OpenFeatureClient, row: Row) -> str | None:
    """What is not as the row has it; None where all is."""
    ask = getattr(openfeature, f"get_{row.kind.lower()}_details")
    found = ask(row.key, row.default, EvaluationContext(attributes=row.context))
    code = found.error_code.value if found.error_code else None
    wanted = {
        "value": (row.value, found.value),
        "reason": (row.reason, found.reason and found.reason.value),
        "variant": (row.variant, found.variant),
        "error": (row.error, code),
        "metadata": (row.metadata, {name: found.flag_metadata.get(name) for name in row.metadata or {}}),
        "message": (row.message, row.message if row.message and row.message in (found.error_message or "") else None),
    }
    differing = {name: pair for name, pair in wanted.items() if pair[0] is not None and pair[0] != pair[1]}
    return f"{row.scenario}: {row.kind} {row.key}: {differing}" if differing else None


def test_every_scenario_is_run_or_says_why_not() -> None:
    assert len({row.scenario for row in ROWS} | NOT_THE_SERVER_S.keys()) == SCENARIOS
