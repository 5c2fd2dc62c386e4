"""The native probe, built once a session."""

from __future__ import annotations

import pytest
from probe_builders import TOOLS, BuiltProbe, build_probe


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--probe-preset", choices=tuple(TOOLS), default="host", help="which build of the probe to test")


@pytest.fixture(scope="session")
def built_probe(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> BuiltProbe:
    return build_probe(request.config.getoption("--probe-preset"), tmp_path_factory.mktemp("probe"))
