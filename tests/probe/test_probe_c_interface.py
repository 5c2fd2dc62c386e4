"""The C interface, called as any language calls it (R-G1)."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path

import pytest
from probe_builders import CAPTURES, BuiltProbe

pytestmark = pytest.mark.slow

OK, NOT_ANDROID, BAD_OPTIONS = 0, 1, 2


class Options(ctypes.Structure):
    _fields_ = (
        ("abi", ctypes.c_int),
        ("executable", ctypes.c_char_p),
        ("work_folder", ctypes.c_char_p),
        ("root", ctypes.c_char_p),
        ("library_folder", ctypes.c_char_p),
        ("silence_limit_ms", ctypes.c_int),
    )


@pytest.fixture
def library(built_probe: BuiltProbe, request: pytest.FixtureRequest) -> ctypes.CDLL:
    if request.config.getoption("--probe-preset") != "host":
        pytest.skip("this Python loads only libraries of its own kind, without sanitizers")
    loaded = ctypes.CDLL(str(built_probe.folder / "libnnfleet_probe.so"))
    loaded.nnfleet_probe_report.restype = ctypes.c_void_p
    loaded.nnfleet_probe_free.argtypes = [ctypes.c_void_p]
    loaded.nnfleet_probe_version.restype = ctypes.c_char_p
    return loaded


def call(library: ctypes.CDLL, options: Options | None) -> tuple[int, bytes | None]:
    status = ctypes.c_int(-1)
    pointer = library.nnfleet_probe_report(None if options is None else ctypes.byref(options), ctypes.byref(status))
    report = None if pointer is None else ctypes.string_at(pointer)
    library.nnfleet_probe_free(pointer)
    return status.value, report


def test_without_an_executable_properties_are_read_and_no_driver_is_touched(library: ctypes.CDLL) -> None:
    status, report = call(library, Options(abi=1, root=str(CAPTURES / "pixel").encode()))
    assert status == OK
    read = json.loads(report or b"")
    assert read["device"]["model"] == "Pixel 9"
    assert read["runtimes"] == {}
    assert "nnapi" not in read
    assert read["probe"]["version"] == library.nnfleet_probe_version().decode()


def test_another_abi_or_no_options_are_refused(library: ctypes.CDLL) -> None:
    assert call(library, Options(abi=2)) == (BAD_OPTIONS, None)
    assert call(library, None) == (BAD_OPTIONS, None)


def test_a_machine_that_is_no_phone_is_told_apart(library: ctypes.CDLL, tmp_path: Path) -> None:
    assert call(library, Options(abi=1, root=str(tmp_path).encode())) == (NOT_ANDROID, None)
