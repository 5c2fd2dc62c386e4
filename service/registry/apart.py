"""Inspection in a process of its own, with bounds on time and memory: a file is hostile until it is read.

    python -m service.registry.apart FILE CPU_S BASE_BYTES

The child bounds itself before it opens the file. It prints `Inspected.to_json()`, null for a kind of file that nothing
here reads, or {"reason", "detail", "limit"} of a ModelFileError.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from service.registry.inspection import Inspected, inspect_file, kind_of
from service.registry.model_file import ModelFileError
from service.settings import bare_environment

WALL_S: Final = 60
BYTES_A_BYTE: Final = 3
"""Address space for each byte of the file: it is mapped, and what is read from it takes less than its size."""
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
    command = [sys.executable, "-m", "service.registry.apart", str(path), str(bounds.cpu_s), str(bounds.base_bytes)]
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


def main(path: Path, bounds: Bounds) -> int:
    """The child's part; returns its exit code."""
    _bound(bounds.cpu_s, bounds.base_bytes + BYTES_A_BYTE * path.stat().st_size)
    try:
        found = inspect_file(path)
    except ModelFileError as error:
        return _told({"reason": error.reason, "detail": error.detail, "limit": error.limit}, REFUSED)
    return _told(found.to_json() if found else None, 0)


def _bound(cpu_s: int, address_space_bytes: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (address_space_bytes, address_space_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _told(answer: Any, code: int) -> int:
    sys.stdout.write(json.dumps(answer, separators=(",", ":")))
    return code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Bounds(int(sys.argv[2]), int(sys.argv[3]))))
