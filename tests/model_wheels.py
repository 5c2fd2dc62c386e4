"""Model files inside PyPI wheels, which `tests/wheels.sh` fetches. The wheels are read, never installed."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / ".venv" / "wheels"


def wheel_file(source: str) -> bytes:
    """The bytes of `wheel-version: path`; skips the test where the wheel was not fetched."""
    wheel, _, path = source.partition(": ")
    found = next(FOLDER.glob(f"{wheel}-*.whl"), None)
    if found is None:
        pytest.skip(f"{wheel} was not fetched: tests/wheels.sh")
    with zipfile.ZipFile(found) as archive:
        return archive.read(path)
