"""One site for all faults: it survives them, or a test says so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from faults.site import Site, site
from sqlalchemy import text


@pytest.fixture(scope="session")
def shared_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site(tmp_path_factory.mktemp("faults")) as found:
        yield found


@pytest.fixture
def running(shared_site: Site) -> Site:
    """The site, without observations."""
    shared_site.wait_for_workers()
    with shared_site.engine.begin() as connection:
        connection.execute(text("TRUNCATE observation, telemetry_tally"))
    return shared_site
