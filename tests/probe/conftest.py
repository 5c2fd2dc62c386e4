"""The native probe, built once a session, on doubles of the libraries that a phone has."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from probe_builders import BuiltProbe

SOURCE = Path(__file__).parents[2] / "client_sdk" / "probe"
# What each preset needs on the machine.
TOOLS = {
    "host": ("cmake", "c++"),
    "sanitize": ("cmake", "c++"),
    "aarch64": ("cmake", "aarch64-linux-gnu-g++", "qemu-aarch64"),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--probe-preset", choices=tuple(TOOLS), default="host", help="which build of the probe to test")


@pytest.fixture(scope="session")
def built_probe(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> BuiltProbe:
    preset = request.config.getoption("--probe-preset")
    missing = [tool for tool in TOOLS[preset] if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"the probe cannot be built here: no {', '.join(missing)}")
    for command in (["cmake", "--preset", preset], ["cmake", "--build", "--preset", preset, "--parallel", "2"]):
        done = subprocess.run(command, check=False, cwd=SOURCE, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return BuiltProbe(SOURCE / "build" / preset, preset == "aarch64", tmp_path_factory.mktemp("probe"))
