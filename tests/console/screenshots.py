"""Pictures of the console: `python -m tests.console.screenshots [--folder console-pictures] [--docs]`.

A small fleet plays the demo's loop first, so that there is something to see. Every page is drawn wide and narrow, light and
dark. `--docs` draws the few small pictures of docs/console.md instead.
"""

from __future__ import annotations

import argparse
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from browsing import NARROW_DARK, NARROW_LIGHT, WIDE_DARK, WIDE_LIGHT, Look, chromium, looking
from playwright.sync_api import Browser, Page

ROOT: Final = Path(__file__).parents[2]
NAME, PASSWORD = "ada", "only for pictures"
PAGES: Final = {
    "fleet": "/console/",
    "classes": "/console/classes",
    "models": "/console/models",
    "model": "/console/models/camera/mobilenet-v2",
    "edit-model": "/console/models/camera/mobilenet-v2/edit",
    "files": "/console/files",
    "findings": "/console/findings",
    "policies": "/console/policies",
    "policy": "/console/policies/camera",
    "flags": "/console/flags",
    "reviews": "/console/reviews",
    "recommendations": "/console/recommendations",
    "quarantines": "/console/quarantines",
    "revisions": "/console/revisions",
    "releases": "/console/releases",
    "release": "/console/releases/2",
    "rollouts": "/console/rollouts",
    "telemetry": "/console/telemetry",
    "jobs": "/console/jobs",
    "audit": "/console/audit",
    "keys": "/console/keys",
    "users": "/console/users",
    "settings": "/console/settings",
    "account": "/console/account",
    "user": f"/console/users/{NAME}",
    "propose-quarantine": "/console/quarantines/new",
    "kill-switch": "/console/kill?app=camera&model=iris",
}
FIRST_OF: Final = {
    "class": "classes",
    "finding": "findings",
    "learned": "recommendations",
    "revision": "revisions",
}
"""Pages whose address only the fleet knows: what the first row of a list leads to."""
IN_DOCS: Final = (("fleet", WIDE_LIGHT), ("fleet", NARROW_DARK), ("explain", WIDE_DARK))
NNFLEET: Final = (sys.executable, "-m", "service.cli.app")


@contextmanager
def played() -> Iterator[str]:
    """The address of a service whose fleet has played the demo, with an account to look at it."""
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
        free.close()
        data = ["--data", folder]
        subprocess.run([*NNFLEET, "demo", "--quick", *data, "--report", f"{folder}/report"], check=False, cwd=ROOT)
        make = [*NNFLEET, "user", "create", NAME, "--role", "admin", *data]
        subprocess.run(make, input=f"{PASSWORD}\n", text=True, check=True, cwd=ROOT)
        process = subprocess.Popen(
            [*NNFLEET, "serve", "--port", str(port), *data], stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        try:
            if "serves on" not in (process.stdout.readline() if process.stdout else ""):
                raise RuntimeError("the service did not start")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()


def sign_in(page: Page) -> None:
    """Sign in to the account that was made."""
    page.goto("/console/login")
    page.get_by_label("Name").fill(NAME)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def first_of(page: Page, listed: str) -> str:
    """The address that the first row of a list leads to."""
    page.goto(PAGES[listed])
    return str(
        page.locator("main table, main article")
        .first.locator(f"a[href^='{PAGES[listed]}/']")
        .first.get_attribute("href")
    )


def draw(browser: Browser, address: str, look: Look, names: list[str], folder: Path, *, whole: bool) -> None:
    """Draw these pages in this look: the whole page, or as much as a window shows."""
    context = looking(browser, look, address)
    page = context.new_page()
    sign_in(page)
    paths = PAGES | {name: first_of(page, listed) for name, listed in FIRST_OF.items()}
    paths["explain"] = f"/console/explain?class={paths['class'].rpartition('/')[2]}&unit=tour"
    for name in names or paths:
        page.goto(paths[name])
        page.screenshot(path=folder / f"{name}-{look.name}.png", full_page=whole)
        print(f"{name}-{look.name}.png", flush=True)
    context.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, default=Path("console-pictures"))
    parser.add_argument("--docs", action="store_true")
    asked = parser.parse_args()
    folder: Path = ROOT / "docs" / "console" if asked.docs else asked.folder
    folder.mkdir(parents=True, exist_ok=True)
    looks = (WIDE_LIGHT, NARROW_DARK, WIDE_DARK) if asked.docs else (WIDE_LIGHT, WIDE_DARK, NARROW_LIGHT, NARROW_DARK)
    with played() as address, chromium() as browser:
        for look in looks:
            names = [name for name, wanted in IN_DOCS if wanted == look] if asked.docs else []
            draw(browser, address, look, names, folder, whole=not asked.docs)


if __name__ == "__main__":
    main()
