"""Every page in a real browser, wide and narrow, light and dark: nothing that keeps somebody from reading or using it (R-F7)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browsing import CHROMIUM, NARROW_DARK, WIDE_LIGHT, chromium, faults, let_in, looking, served
from console_builders import FINDING, Stage
from flask import Flask
from playwright.sync_api import Browser
from routes import pages
from signing_in import add_person

from service.identity.actor import Role

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium")]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


def test_no_page_has_a_serious_fault_wide_and_light_or_narrow_and_dark(
    app: Flask, stage: Stage, browser: Browser
) -> None:
    report_id, facts = stage.operate()
    add_person(stage.engine, "ada", Role.ADMIN)
    names = {
        "device_class": facts.device_class, "earlier": facts.device_class, "number": "1", "name": "ada", "app": "camera",
        "model": "mobilenet", "finding": FINDING,
    }  # fmt: skip
    paths = [*pages(app, names), f"/console/explain?report={report_id}&unit=abc", "/console/nowhere", "/console/login"]
    with served(app) as address:
        context = looking(browser, WIDE_LIGHT, address)
        let_in(context, app, address, "ada")
        page = context.new_page()
        wrong = {}
        for path in paths:
            page.goto(path)
            wrong[path] = faults(page, (WIDE_LIGHT, NARROW_DARK))
        context.close()
    assert {path: found for path, found in wrong.items() if found} == {}


def test_a_browser_blocks_nothing_of_a_page(app: Flask, stage: Stage, browser: Browser) -> None:
    """The security policy forbids what no page has: a page that needs more says so in the browser's console."""
    _, facts = stage.operate()
    add_person(stage.engine, "ada", Role.ADMIN)
    said: list[str] = []
    with served(app) as address:
        context = browser.new_context(base_url=address)
        let_in(context, app, address, "ada")
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        for path in ("/console/", f"/console/classes/{facts.device_class}", "/console/rollouts/1", "/console/keys"):
            page.goto(path)
        context.close()
    assert said == []
