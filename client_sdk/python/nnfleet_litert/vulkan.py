"""The first Vulkan device and its version, as JSON; `null` where there is none. `python -m nnfleet_litert.vulkan`.

In a process of its own: loading a driver may end it. Declarations are our own, after the public registry of Khronos.
"""

from __future__ import annotations

import ctypes
import json
import sys
from typing import Any, ClassVar, Final

LIBRARY: Final = "libvulkan.so.1"
_INCOMPLETE: Final = 5
"""What enumerating answers where there are more devices than were asked for."""


class _InstanceInfo(ctypes.Structure):
    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("type", ctypes.c_int32), ("next", ctypes.c_void_p), ("flags", ctypes.c_uint32), ("application", ctypes.c_void_p),
        ("layers", ctypes.c_uint32), ("layer_names", ctypes.c_void_p),
        ("extensions", ctypes.c_uint32), ("extension_names", ctypes.c_void_p),
    ]  # fmt: skip


class _Properties(ctypes.Structure):
    """Only the fields in front are read; drivers write up to the whole structure, 824 bytes."""

    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("api_version", ctypes.c_uint32), ("ids", ctypes.c_uint32 * 4), ("name", ctypes.c_char * 256),
        ("rest", ctypes.c_uint8 * 2048),
    ]  # fmt: skip


def first_device() -> dict[str, str] | None:
    """`renderer` and `vulkan`, as a report's `gpu` holds them."""
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError:
        return None
    instance, device, count = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint32(1)
    info = _InstanceInfo(type=1)  # VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO
    if library.vkCreateInstance(ctypes.byref(info), None, ctypes.byref(instance)) != 0:
        return None
    found = library.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), ctypes.byref(device))
    if found not in {0, _INCOMPLETE} or count.value < 1:
        return None
    properties = _Properties()
    library.vkGetPhysicalDeviceProperties(device, ctypes.byref(properties))
    version = properties.api_version
    return {
        "renderer": properties.name.decode("utf-8", errors="replace"),
        "vulkan": f"{version >> 22 & 0x7F}.{version >> 12 & 0x3FF}",
    }


if __name__ == "__main__":
    json.dump(first_device(), sys.stdout)
