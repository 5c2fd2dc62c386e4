"""The child process that runs one arm: what its driver does to it, it does to nobody else. Lines of JSON in, lines out.

`python -m nnfleet_litert.child`. LiteRT logs to standard error, and some drivers to standard output: answers go to a copy
of standard output, which nothing else knows.
"""

from __future__ import annotations

import json
import os
import re
import resource
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from nnfleet_litert.engines import Engine
from nnfleet_litert.golden import compared, parted

_SOURCE: Final = re.compile(r"\[(?:[^\[\]]*/)?([\w.]+:\d+)\]")
_SAID: Final[Mapping[str, str]] = {
    "ops are not accelerated": "unsupported-operations",
    "Failed to modify graph with delegate": "delegate-failed",
}
"""What LiteRT says in words where the place in its sources is the same for different troubles."""


class Arm:
    """One arm in this process; its methods are the commands that the parent may send."""

    def __init__(self) -> None:
        self._engine: Engine | None = None
        self._first_run_us: int | None = None
        self._before_kb = _peak_kb()

    def start(self, file: str, delegate: str, threads: int, weights: str | None) -> Mapping[str, Any]:
        """Load and compile."""
        self._engine = engine = Engine(Path(file), delegate, threads, Path(weights) if weights else None)
        engine.feed([np.zeros(shape, dtype) for shape, dtype in engine.shapes()])
        return {"load_us": engine.load_us, "compile_us": engine.compile_us}

    def run(self) -> Mapping[str, Any]:
        """Run once."""
        latency_us = self._started.run()
        if self._first_run_us is None:
            self._first_run_us = latency_us
        return {"latency_us": latency_us}

    def golden(self, inputs: str, outputs: str, tolerance: float) -> Mapping[str, Any]:
        """Run on the fixed input and compare with the reference. The runs to come are on it, too."""
        shapes = [shape for shape, _ in self._started.shapes()]
        self._started.feed(parted(np.fromfile(inputs, "<f4"), shapes))
        self.run()
        return compared(self._started.outputs(), np.fromfile(outputs, "<f4"), tolerance)

    def told(self) -> Mapping[str, Any]:
        """What is known at the end: who ran, the first run, the memory that the arm took beside Python's."""
        memory_peak_kb = _peak_kb() - self._before_kb  # before asking who ran, which takes some of its own
        return {
            "executed": self._started.executed(),
            "first_run_us": self._first_run_us,
            "memory_peak_kb": memory_peak_kb,
        }

    @property
    def _started(self) -> Engine:
        if self._engine is None:
            raise RuntimeError("no arm is started")
        return self._engine


def _peak_kb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _code(error: Exception) -> str:
    """A short, stable word for what LiteRT says: ours, else the place in its sources, innermost last, else the kind of error."""
    said = str(error)
    known = next((code for words, code in _SAID.items() if words in said), None)
    places = _SOURCE.findall(said)
    return known or (places[-1] if places else type(error).__name__)


def answers(lines: Iterator[str], arm: Arm) -> Iterator[Mapping[str, Any]]:
    """One answer a line: what the command returns, or `failed` with a code."""
    for line in lines:
        command = json.loads(line)
        act: Callable[..., Mapping[str, Any]] = getattr(arm, command.pop("do"))
        try:
            yield act(**command)
        except (RuntimeError, ValueError, OSError) as error:
            print(error, file=sys.stderr)
            yield {"failed": _code(error)}


def main() -> None:
    """Answer until the parent closes its end."""
    with os.fdopen(os.dup(1), "w", buffering=1) as parent:
        os.dup2(2, 1)
        print("{}", file=parent)
        for answer in answers(iter(sys.stdin.readline, ""), Arm()):
            print(json.dumps(answer), file=parent)


if __name__ == "__main__":
    main()
