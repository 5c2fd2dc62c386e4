"""A PostgreSQL for each process that runs tests, emptied for every test; the service on top of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from builders import make_report
from emptying import empty
from flask import Flask
from flask.testing import FlaskClient
from operating import TOKEN, Operator
from sqlalchemy import Engine, text
from telling import tell

from policies.report import report_id
from service import logs
from service.settings import Settings
from service.store import schema
from service.store.embedded import embedded_postgresql
from service.store.engine import make_engine
from service.store.simulation_runs import LOCK_CLASS

_SIMULATED = text(f"SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = {LOCK_CLASS})")
# Machines are shared: how long an example takes says nothing about the code.
hypothesis.settings.register_profile("shared-machine", deadline=None)
hypothesis.settings.load_profile("shared-machine")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from spreading import Spread  # here: only where several processes run tests

    return Spread(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    tell(terminalreporter)


@pytest.fixture
def say(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Print a count at the end of the run, where whoever runs the tests sees it."""
    return lambda line: record_property("said", (line,))


@pytest.fixture(scope="session", autouse=True)
def _plain_logs() -> None:
    """As the service logs: structlog's own renderer takes seconds to draw a traceback with its variables."""
    logs.configure("critical")


@pytest.fixture(scope="session")
def database_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with embedded_postgresql(tmp_path_factory.mktemp("postgresql")) as url:
        engine = make_engine(Settings(url))
        _forget_durability(engine)
        schema.upgrade(engine)
        engine.dispose()
        yield url


def _forget_durability(engine: Engine) -> None:
    """Nothing here has to outlive a power cut, and waiting for the disk would be most of a test's time."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            connection.execute(text(f"ALTER SYSTEM SET {setting} = off"))
        connection.execute(text("SELECT pg_reload_conf()"))


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    return Settings(database_url, manage_token=TOKEN, log_level="error", artifacts=str(tmp_path / "artifacts"))


@pytest.fixture
def engine(settings: Settings) -> Iterator[Engine]:
    engine = make_engine(settings)
    empty(engine)
    yield engine
    _until_nothing_is_simulated(engine)
    engine.dispose()


def _until_nothing_is_simulated(engine: Engine) -> None:
    """What runs beside a request may outlive the test that asked for it, and must not meet the emptying of the next."""
    deadline = time.monotonic() + 120
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        while connection.execute(_SIMULATED).scalar_one():
            assert time.monotonic() < deadline
            time.sleep(0.02)


@pytest.fixture(scope="session")
def routed_app() -> Flask:
    """The application without a database. Its routes are compiled once, which takes longer than most tests."""
    from service.app import create_app  # here: tests of pure code need no web application

    return create_app(Settings("postgresql://nobody@localhost/nothing", manage_token=TOKEN))


@pytest.fixture
def app(routed_app: Flask, settings: Settings, engine: Engine) -> Flask:
    """The application on this test's database. It remembers nothing of earlier tests."""
    from service.app import make_services

    routed_app.extensions["nnfleet"] = make_services(settings, engine)
    return routed_app


@pytest.fixture
def own_app(settings: Settings, engine: Engine) -> Flask:
    """Another one on the same database, for a test that adds to it."""
    from service.app import create_app

    return create_app(settings, engine)


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def operator(client: FlaskClient) -> Operator:
    return Operator(client)


@pytest.fixture
def known_report(client: FlaskClient) -> str:
    """The id of an uploaded report of a retail phone."""
    body = make_report()
    assert client.put(f"/v1/reports/{report_id(body)}", data=body).status_code == 201
    return report_id(body)
