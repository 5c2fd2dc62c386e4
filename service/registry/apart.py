"""Inspection in a process of its own (`inspection_run`), with bounds on time and memory: a file is hostile until it is read."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from service.registry.inspected import Inspected
from service.registry.kinds import kind_of
from service.registry.model_file import ModelFileError
from service.settings import bare_environment

WALL_S: Final = 60
REFUSED: Final = 3
"""Exit code of a child that says what is wrong."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a child may use. The largest real model known here takes a second of CPU.

    `base_bytes` is address space of the interpreter with its libraries, which is more than what they use.
    """

    cpu_s: int = 20
    base_bytes: int = 1024 * 1024 * 1024


BOUNDS: Final = Bounds()


def inspect_apart(path: Path, bounds: Bounds = BOUNDS) -> Inspected | None:
    """`inspect_file` in a child process. Raises ModelFileError, "too-large" where the child went over its bounds."""
    if kind_of(path) is None:
        return None
    command = [
        sys.executable,
        "-m",
        "service.registry.inspection_run",
        str(path),
        str(bounds.cpu_s),
        str(bounds.base_bytes),
    ]
    try:
        child = subprocess.run(  # noqa: S603
            command, env=bare_environment(), capture_output=True, timeout=WALL_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise ModelFileError("too-large", f"the file takes over {WALL_S} s to read", limit=WALL_S) from error
    if child.returncode not in {0, REFUSED}:
        detail = f"reading the file takes over {bounds.cpu_s} s or too much memory"
        raise ModelFileError("too-large", detail, limit=bounds.cpu_s)
    told = json.loads(child.stdout)
    if child.returncode == REFUSED:
        raise ModelFileError(told["reason"], told["detail"], limit=told["limit"])
    return Inspected.from_json(told) if told is not None else None
