"""Pages in Debian's Chromium, driven by Playwright: looks, addresses, and what a browser complains of."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Literal

from axe_playwright_python.base import AXE_SCRIPT
from flask import Flask
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
from werkzeug.serving import make_server

from service import clock
from service.console.paging import PREFIX
from service.console.visitor import COOKIE

CHROMIUM: Final = shutil.which("chromium")
SERIOUS: Final = frozenset({"serious", "critical"})
HEIGHT: Final = 900
_VIOLATIONS: Final = "axe.run({resultTypes: ['violations']}).then(results => results.violations)"


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
        viewport={"width": look.width, "height": HEIGHT},
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


def look_again(page: Page, look: Look) -> None:
    """Look at the same page otherwise: what a page looks like is its style sheet's alone, which follows at once."""
    page.set_viewport_size({"width": look.width, "height": HEIGHT})
    page.emulate_media(color_scheme=look.scheme)


def faults(page: Page, looks: Sequence[Look]) -> list[str]:
    """What axe finds serious or critical on the open page in each look, and whether it is wider than its window."""
    page.evaluate(AXE_SCRIPT)
    found = []
    for look in looks:
        look_again(page, look)
        found += [f"{look.name}: {fault}" for fault in (*_violations(page), *_overflow(page))]
    return found


def _violations(page: Page) -> Iterator[str]:
    for violation in page.evaluate(_VIOLATIONS):
        if violation["impact"] in SERIOUS:
            for node in violation["nodes"]:
                yield f"{violation['id']}: {node['target']} {node['failureSummary']}"


def _overflow(page: Page) -> Iterator[str]:
    overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    if overflow > 0:
        yield f"{overflow} px wider than the window"
