"""This Linux machine as a capability report: what the kernel says of the processor and the memory, and the GPU's own word.

No phone: there is no NNAPI, and the API level is the lowest that reports may hold, so that nothing which Android added later
is taken for granted. Holds no name of the host and no serial number.
"""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

API_LEVEL: Final = 1
GRAPHICS_S: Final = 60

_FEATURES: Final = frozenset(
    {"avx", "avx2", "avx512f", "avx512_vnni", "avx_vnni", "amx_int8", "f16c", "fma", "sse4_1", "asimd", "asimdhp", "asimddp", "i8mm", "sve"}
)  # fmt: skip
"""Flags that decide which kernels XNNPACK picks, in the kernel's words."""
_DMI: Final = Path("sys/class/dmi/id")


def machine_report(root: Path = Path("/")) -> bytes:
    """The report's bytes. `root` is where /proc and /sys are read from."""
    cpu = parse_cpuinfo(_text(root / "proc/cpuinfo"))
    device = {
        "manufacturer": _text(root / _DMI / "sys_vendor").strip() or cpu.get("vendor_id") or "unknown",
        "model": _text(root / _DMI / "product_name").strip() or cpu.get("model name") or platform.machine(),
        "soc_manufacturer": cpu.get("vendor_id"),
        "soc_model": cpu.get("model name"),
        "api_level": API_LEVEL,
        "abis": [platform.machine()],
        "ram_mb": parse_memory_mb(_text(root / "proc/meminfo")),
        "cpu": {"cores": int(cpu.get("cores", 0)) or None, "features": features(cpu)},
    }
    report = {
        "schema": 1,
        "device": _present(device),
        "gpu": graphics(),
        "runtimes": {},
        "probe": {"name": "nnfleet-litert", "failures": []},
    }
    return json.dumps(report, sort_keys=True).encode()


def parse_cpuinfo(text: str) -> dict[str, str]:
    """Facts of the first core by the kernel's names, and the number of `cores`."""
    pairs = [
        (key.strip(), value.strip()) for key, mark, value in (line.partition(":") for line in text.splitlines()) if mark
    ]
    first: dict[str, str] = {}
    for key, value in pairs:
        first.setdefault(key, value)
    return first | {"cores": str(sum(key == "processor" for key, _ in pairs))}


def processor(root: Path = Path("/")) -> Mapping[str, Any]:
    """What decides which kernels run here, and so how weights are packed for them."""
    cpu = parse_cpuinfo(_text(root / "proc/cpuinfo"))
    return {"kind": platform.machine(), "model": cpu.get("model name"), "features": features(cpu)}


def features(cpu: Mapping[str, str]) -> Sequence[str]:
    """The flags that matter, in order of their names."""
    return sorted(_FEATURES & set((cpu.get("flags") or cpu.get("Features") or "").split()))


def parse_memory_mb(text: str) -> int | None:
    """All memory, in MiB, rounded up to a whole GiB: the kernel keeps some for itself, a little more or less each time."""
    found = re.search(r"MemTotal:\s+(\d+) kB", text)
    return -(-int(found[1]) // (1024 * 1024)) * 1024 if found else None


def graphics() -> Mapping[str, str] | None:
    """The first Vulkan device, asked in a process of its own; None where there is none, or its driver does not survive it."""
    command = [sys.executable, "-m", "nnfleet_litert.vulkan"]
    try:
        asked = subprocess.run(command, capture_output=True, timeout=GRAPHICS_S, check=True)  # noqa: S603 -- our own
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return None
    found: Mapping[str, str] | None = json.loads(asked.stdout)
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return ""


def _present(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value is not None}
