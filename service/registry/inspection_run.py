"""The child that reads a model file: it bounds itself before it opens the file, and prints what it found.

    python -m service.registry.inspection_run FILE CPU_S BASE_BYTES

It prints `Inspected.to_json()`, null for a kind of file that nothing here reads, or {"reason", "detail", "limit"} of a
ModelFileError and ends with `REFUSED`.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path
from typing import Any, Final

from service.registry.apart import REFUSED
from service.registry.inspection import inspect_file
from service.registry.model_file import ModelFileError

BYTES_A_BYTE: Final = 3
"""Address space for each byte of the file: it is mapped, and what is read from it takes less than its size."""


def main(path: Path, cpu_s: int, base_bytes: int) -> int:
    """Returns the exit code."""
    _bound(cpu_s, base_bytes + BYTES_A_BYTE * path.stat().st_size)
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
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
