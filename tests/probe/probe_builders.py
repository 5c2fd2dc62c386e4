"""A built probe and the scripts of its doubles; a test names only what matters to it."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(__file__).parents[2] / "client_sdk" / "probe"
CAPTURES = SOURCE / "tests" / "captures"
# What each preset needs on the machine.
TOOLS = {
    "host": ("cmake", "c++"),
    "sanitize": ("cmake", "c++"),
    "aarch64": ("cmake", "aarch64-linux-gnu-g++", "qemu-aarch64"),
}

INT8 = "TENSOR_QUANT8_ASYMM TENSOR_QUANT8_ASYMM_SIGNED TENSOR_QUANT8_SYMM_PER_CHANNEL"
FLOAT = "TENSOR_FLOAT32 TENSOR_FLOAT16"
REST = "TENSOR_INT32 TENSOR_BOOL8 TENSOR_QUANT8_SYMM TENSOR_QUANT16_SYMM TENSOR_QUANT16_ASYMM"

GPU = """
gles Mali-G715 | OpenGL ES 3.2 v1.r44p1-01eac0
vulkan Mali-G715 | 0x00403000
opencl OpenCL 3.0 v1.r44p1
"""
CPU = f"device nnapi-reference cpu 1000008 1.0\ntakes {FLOAT} {INT8} {REST}\n"


def accelerator(*lines: str, name: str = "google-edgetpu", takes: str = INT8, level: int = 1_000_007) -> str:
    """A device of the script with what it is told to do."""
    return "\n".join([f"device {name} accelerator {level} 2.0", f"takes {takes}", *lines]) + "\n"


def script(*devices: str, head: str = "") -> str:
    """A phone with a GPU, these devices, and NNAPI's own CPU last."""
    return "runtime 1000008\n" + GPU + head + "\n" + "".join(devices) + CPU


@dataclass
class BuiltProbe:
    """A build in `folder`; an emulated one starts through qemu, its children too."""

    folder: Path
    emulated: bool
    work: Path
    _programs: dict[str, Path] = field(default_factory=dict)

    def program(self, name: str) -> Path:
        """A program of the build, as something that this machine can execute."""
        if not self.emulated:
            return self.folder / name
        if name not in self._programs:
            wrapper = self.work / Path(name).name
            wrapper.write_text(f'#!/bin/sh\nexec qemu-aarch64 -L /usr/aarch64-linux-gnu {self.folder / name} "$@"\n')
            wrapper.chmod(0o755)
            self._programs[name] = wrapper
        return self._programs[name]

    def run(self, name: str, *arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
        """Start a program of the build; nothing of this machine's environment is passed on but the path."""
        command = [self.program(name), *arguments]
        plain = {"PATH": "/usr/bin:/bin"}
        return subprocess.run(command, check=False, capture_output=True, env=plain | environment, timeout=300)

    def report_bytes(self, said: str, capture: str = "pixel", libraries: Path | None = None, **options: Any) -> bytes:
        """What the probe prints on a phone whose doubles do as they are `said`."""
        plan = self.work / "script"
        plan.write_text(said)
        arguments: dict[str, Any] = {
            "executable": self.program("nnfleet-probe"),
            "root": CAPTURES / capture,
            "libraries": libraries or self.folder / "double",
            "work": self.work,
            "silence": 20_000,
        } | options
        words = [str(word) for name, value in arguments.items() for word in (f"--{name}", value)]
        done = self.run("nnfleet-probe", *words, NNFLEET_DOUBLE=str(plan))
        assert done.returncode == 0, done.stderr
        return done.stdout

    def report(self, said: str, **options: Any) -> dict[str, Any]:
        """The same, read."""
        report: dict[str, Any] = json.loads(self.report_bytes(said, **options))
        return report


def build_probe(preset: str, work: Path) -> BuiltProbe:
    """A build by preset, brought up to date; skips where this machine lacks the tools."""
    missing = [tool for tool in TOOLS[preset] if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"the probe cannot be built here: no {', '.join(missing)}")
    for command in (["cmake", "--preset", preset], ["cmake", "--build", "--preset", preset, "--parallel", "2"]):
        done = subprocess.run(command, check=False, cwd=SOURCE, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return BuiltProbe(SOURCE / "build" / preset, preset == "aarch64", work)
