"""Pages in a real browser, wide and narrow, light and dark: what cannot be drawn cannot be read."""

from __future__ import annotations

import shutil
import struct
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from console_builders import FINDING, Stage
from flask import Flask
from werkzeug.serving import make_server

CHROMIUM = shutil.which("chromium")
SIZES = {"wide": (1280, 1600), "narrow": (400, 1600)}
SCHEMES = {"light": "preferredColorScheme=1", "dark": "preferredColorScheme=0"}
# A start of the browser takes seconds: a page of each kind in both widths and both themes, one page in all four.
LOOKS = (("wide", "light"), ("narrow", "dark"))
ALL_LOOKS = (*LOOKS, ("wide", "dark"), ("narrow", "light"))


@pytest.fixture
def address(app: Flask) -> Iterator[str]:
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def screenshot(url: str, picture: Path, size: tuple[int, int], scheme: str) -> None:
    assert CHROMIUM is not None
    command = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1",
        f"--user-data-dir={picture.parent / 'profile'}", f"--blink-settings={scheme}",
        f"--screenshot={picture}", f"--window-size={size[0]},{size[1]}", url,
    ]  # fmt: skip
    subprocess.run(command, check=True, timeout=60, capture_output=True)


def png_size(picture: Path) -> tuple[int, int]:
    width, height = struct.unpack(">II", picture.read_bytes()[16:24])
    return width, height


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium")
def test_pages_are_drawn_wide_and_narrow_light_and_dark(address: str, stage: Stage, tmp_path: Path) -> None:
    report_id, facts = stage.operate()
    pages = {
        "fleet": "/",
        "classes": "/classes",
        "class": f"/classes/{facts.device_class}",
        "model": "/models/camera/mobilenet",
        "finding": f"/findings/{FINDING}",
        "learned": "/recommendations/1",
        "releases": "/releases",
        "release": "/releases/2",
        "revision": "/revisions/1",
        "rollout": "/rollouts/1",
        "telemetry": "/telemetry",
        "audit": "/audit",
        "explain": f"/explain?report={report_id}&unit=abc",
    }
    for name, path in pages.items():
        drawn = {}
        for width, scheme in ALL_LOOKS if name == "fleet" else LOOKS:
            picture = tmp_path / f"{name}-{width}-{scheme}.png"
            screenshot(f"{address}/console{path}", picture, SIZES[width], SCHEMES[scheme])
            assert png_size(picture) == SIZES[width]
            assert picture.stat().st_size > 5_000, picture.name
            drawn[width, scheme] = picture.read_bytes()
        assert len(set(drawn.values())) == len(drawn), f"{name} looks the same in two themes or widths"
