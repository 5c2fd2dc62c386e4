"""Run a command that does not outlive the process that started it: `python -m service.lifeline PARENT COMMAND…`.

A command that was killed with -9 stops nothing: without this its web server would go on and keep the port. Linux alone
can be asked for a signal then; elsewhere whoever killed the command ends its children.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Sequence
from typing import Final

_PR_SET_PDEATHSIG: Final = 1
"""From linux/prctl.h. Holds across exec, not across fork: what the command starts is the command's to end."""


def tied(command: Sequence[str]) -> list[str]:
    """The command line that runs `command` as long as this process, and the thread that starts it, live."""
    return [sys.executable, "-m", "service.lifeline", str(os.getpid()), *command]


def main(parent: str, *command: str) -> None:
    """Ask to be ended with the parent, then become the command. Raises OSError where the kernel does not take it."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM) != 0:
            raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    if os.getppid() != int(parent):  # it ended before the kernel was asked
        sys.exit(1)
    os.execv(command[0], command)  # noqa: S606 -- the command line that `tied` was given


if __name__ == "__main__":
    main(*sys.argv[1:])
