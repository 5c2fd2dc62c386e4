"""Pages in Debian's Chromium, driven by Playwright: looks, addresses, and what a browser complains of."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Literal

from axe_playwright_python.sync_playwright import Axe
from flask import Flask
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
from werkzeug.serving import make_server

from service import clock
from service.console.paging import PREFIX
from service.console.visitor import COOKIE

CHROMIUM: Final = shutil.which("chromium")
SERIOUS: Final = frozenset({"serious", "critical"})


@dataclass(frozen=True)
class Look:
    """How a page is looked at."""

    name: str
    width: int
    scheme: Literal["light", "dark"]


WIDE_LIGHT: Final = Look("wide-light", 1280, "light")
WIDE_DARK: Final = Look("wide-dark", 1280, "dark")
NARROW_LIGHT: Final = Look("narrow-light", 400, "light")
NARROW_DARK: Final = Look("narrow-dark", 400, "dark")


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@contextmanager
def served(app: Flask) -> Iterator[str]:
    """The address of the app, in a thread beside the test."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def looking(browser: Browser, look: Look, address: str, *, bypass_csp: bool = True) -> BrowserContext:
    """Somebody at a browser of this look. Past the security policy, unless told otherwise: it forbids the script that
    checks pages.
    """
    context = browser.new_context(
        base_url=address,
        viewport={"width": look.width, "height": 900},
        color_scheme=look.scheme,
        bypass_csp=bypass_csp,
        reduced_motion="reduce",
    )
    context.set_default_timeout(60_000)
    return context


def let_in(context: BrowserContext, app: Flask, address: str, name: str) -> None:
    """Give the browser a session of this person."""
    secret = app.extensions["nnfleet"].sessions.start(name, "Chromium", clock.now())
    context.add_cookies([{"name": COOKIE, "value": secret, "url": f"{address}{PREFIX}/"}])


def faults(page: Page) -> list[str]:
    """What axe finds serious or critical, and whether the page is wider than its window."""
    found = [
        f"{violation['id']}: {node['target']} {node['failureSummary']}"
        for violation in Axe().run(page).response["violations"]
        if violation["impact"] in SERIOUS
        for node in violation["nodes"]
    ]
    overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    return found + ([f"{overflow} px wider than the window"] if overflow > 0 else [])
