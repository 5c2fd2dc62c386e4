"""A disk of its own, and small: a file system in memory, mounted for one test."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from builders import MIB


@contextmanager
def small_disk(folder: Path, size_mib: int) -> Iterator[None]:
    """Mount so much over the folder; skips where nothing may be mounted."""
    mount = shutil.which("mount") or "mount"
    command = [mount, "-t", "tmpfs", "-o", f"size={size_mib}m,mode=0777", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        pytest.skip(f"no file system can be mounted here: {error}")
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill_up_to(folder: Path, left_mib: int) -> Path:
    """A file that leaves so much of the folder's disk."""
    ballast = folder / "ballast"
    with ballast.open("wb") as file:
        for _ in range((shutil.disk_usage(folder).free - left_mib * MIB) // MIB):
            file.write(bytes(MIB))
    return ballast
