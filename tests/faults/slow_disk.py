"""A disk that takes its time: every flush of PostgreSQL's files waits, as on a worn-out or shared disk.

What is slow is the call itself, in the real processes: a library that is loaded before all others delays `fsync` and
`fdatasync` while a file is there, and then makes the real call. It needs a C compiler, and no rights.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

_SOURCE = """
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void wait_while_slow(void) {
    struct timespec delay = {DELAY_MS / 1000, (DELAY_MS % 1000) * 1000000L};
    if (access(SWITCH, F_OK) == 0)
        while (nanosleep(&delay, &delay) != 0) {}
}

int fsync(int file) {
    wait_while_slow();
    return (int)syscall(SYS_fsync, file);
}

int fdatasync(int file) {
    wait_while_slow();
    return (int)syscall(SYS_fdatasync, file);
}
"""


class SlowDisk:
    """The library that makes flushes slow, and the switch for it."""

    def __init__(self, folder: Path, delay_ms: int) -> None:
        compiler = shutil.which("cc")
        if compiler is None:
            pytest.skip("no C compiler is installed: flushes cannot be slowed down")
        self.library = folder / "slow_disk.so"
        self._switch = folder / "slow"
        defines = [f"-DDELAY_MS={delay_ms}", f'-DSWITCH="{self._switch}"']
        command = [compiler, "-shared", "-fPIC", "-O1", *defines, "-x", "c", "-", "-o", str(self.library)]
        subprocess.run(command, input=_SOURCE, text=True, check=True)

    def slow_down(self) -> None:
        """From now on every flush waits."""
        self._switch.touch()

    def recover(self) -> None:
        """As before."""
        self._switch.unlink()
