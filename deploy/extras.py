"""The requirements of the project and of the extras named: `python deploy/extras.py service ml`. For the Dockerfile."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path


def requirements(pyproject: Path, extras: Iterable[str]) -> list[str]:
    """Requirement lines as `pyproject` states them; raises KeyError for an extra that it does not have."""
    project = tomllib.loads(pyproject.read_text("utf-8"))["project"]
    wanted = list(project["dependencies"])
    for extra in extras:
        wanted += project["optional-dependencies"][extra]
    return wanted


if __name__ == "__main__":
    sys.stdout.write("\n".join(requirements(Path("pyproject.toml"), sys.argv[1:])) + "\n")
