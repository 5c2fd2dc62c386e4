"""The parent's side of a child that runs an arm: asks, waits no longer than it may, and says how the child ended."""

from __future__ import annotations

import contextlib
import json
import re
import select
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import IO, Any, Final, Self

from nnfleet_client import ArmFailed, ProcessDied, RunTimeout

READY_MS: Final = 120_000
"""For importing LiteRT, which is no part of what an arm costs."""
_ADAPTER: Final = re.compile(r"Selected adapter: ([^,\n]+)")


class Child:
    """A child process with LiteRT in it. Raises RunTimeout where it is not ready in time, ProcessDied where it dies."""

    def __init__(self) -> None:
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 -- closed with the child
        command = [sys.executable, "-m", "nnfleet_litert.child"]
        self._process = subprocess.Popen(  # noqa: S603 -- our own
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, bufsize=0
        )
        self._answer(READY_MS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, phase: str, limit_ms: float, **command: Any) -> Mapping[str, Any]:
        """Send a command and wait for its answer.

        Raises ArmFailed (`phase`, what the runtime said), RunTimeout where the answer does not come in time (the child is
        killed then), ProcessDied where the child is gone.
        """
        with contextlib.suppress(BrokenPipeError):
            self._input.write(json.dumps(command).encode() + b"\n")
        answer = self._answer(limit_ms)
        if "failed" in answer:
            raise ArmFailed(phase, str(answer["failed"]))
        return answer

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def adapter(self) -> str | None:
        """The GPU that LiteRT says it selected, None where it said nothing."""
        self._log.seek(0)
        found = _ADAPTER.search(self._log.read().decode("utf-8", errors="replace"))
        return found[1] if found else None

    def close(self) -> None:
        """End the child, whatever it does."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._log):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

    @property
    def _input(self) -> IO[bytes]:
        assert self._process.stdin is not None  # noqa: S101 -- a pipe was asked for
        return self._process.stdin

    def _answer(self, limit_ms: float) -> Mapping[str, Any]:
        assert self._process.stdout is not None  # noqa: S101
        ready, _, _ = select.select([self._process.stdout], [], [], limit_ms / 1000)
        if not ready:
            self.close()
            raise RunTimeout(f"no answer within {limit_ms:.0f} ms")
        line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            self.close()
            raise ProcessDied(f"the child process ended with {_ending(self._process.returncode)}")
        answer: Mapping[str, Any] = json.loads(line)
        return answer


def _ending(returncode: int) -> str:
    return f"signal {-returncode}" if returncode < 0 else f"status {returncode}"
