"""NNAPI drivers and vendor runtimes that a modelled phone carries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final

from ml.fleet.assumptions import NNAPI_LEVEL_OF_API, SHARED_BUFFER_FACTOR
from ml.fleet.engines import FAMILIES, GPU_DRIVER_RATIO
from ml.fleet.models import node_keys
from ml.fleet.silicon import Engine
from ml.fleet.socs import Soc
from ml.fleet.support import DRIVERS, OperatorSupport, at_level, reported
from policies import catalog
from policies.support import nnapi_support
from policies.vocabulary import MIN_NNAPI_LEVEL, Delegate, feature_level

AIDL_SINCE_API: Final = 33
"""MediaTek's drivers carry the suffix `_shim` from here on. Assumed; seen on Android 16, without it up to 12."""


@dataclass(frozen=True)
class Driver:
    """One NNAPI device. `kind` as NNAPI types it ("accelerator", "gpu", "cpu"), `level` 1…8."""

    name: str
    kind: str
    version: str
    level: int
    support: OperatorSupport
    engine: Engine

    @property
    def taken(self) -> frozenset[str]:
        """Node keys that LiteRT's NNAPI delegate hands to this driver: those it maps and the driver said yes to."""
        return _taken(self.support, self.level)

    @property
    def canonical(self) -> str:
        """Name under which decisions know it."""
        found = catalog.accelerators().find(self.name)
        return found[0] if found else self.name


@cache
def _taken(support: OperatorSupport, level: int) -> frozenset[str]:
    answer = nnapi_support(reported(support, level), level)
    return frozenset(key for key in node_keys() if answer(key))


@dataclass(frozen=True)
class VendorRuntime:
    """A vendor's own runtime that loads on the phone."""

    delegate: Delegate
    version: str
    support: OperatorSupport
    engine: Engine


@dataclass(frozen=True)
class _Entry:
    """A driver in a set: its NNAPI name, its operator list, its engine family ("gpu": over the phone's GPU)."""

    name: str
    support: str
    family: str

    @property
    def kind(self) -> str:
        return "gpu" if self.family == "gpu" else "accelerator"


def _entry(name: str, support: str = "", family: str = "") -> _Entry:
    return _Entry(name, support or name, family or support or name)


_MTK_GPU: Final = _entry("mtk-gpu", family="gpu")
_QTI_GPU: Final = _entry("qti-gpu", family="gpu")
_QTI: Final = (_entry("qti-default"), _entry("qti-dsp"), _QTI_GPU)
DRIVER_SETS: Final[Mapping[str, tuple[_Entry, ...]]] = MappingProxyType(
    {
        "": (),
        "edgetpu": (_entry("google-edgetpu"), _entry("google-armnn", family="gpu")),
        "edgetpu-g5": (_entry("google-edgetpu", "google-edgetpu-g5", "google-edgetpu"),),
        "mtk-shim": (_entry("mtk-neuron"), _entry("mtk-mdla"), _entry("mtk-dsp")),
        "mtk": (_entry("mtk-neuron"), _entry("mtk-mdla"), _entry("mtk-dsp"), _MTK_GPU),
        "mtk-old": (_entry("mtk-neuron", "mtk-neuron-old"), _MTK_GPU),
        "mtk-slow": (_entry("mtk-neuron", "mtk-neuron-old", "mtk-neuron-slow"), _MTK_GPU),
        "qti": _QTI,
        "qti-hta": (*_QTI, _entry("qti-hta")),
        "qti-old": (_entry("qti-default", "qti-default", "qti-default-old"), _QTI_GPU),
        "eden": (_entry("eden-drv"),),
        "enn": (_entry("enn"),),
        "kirin-ipu": (_entry("ipuadaptor"),),
        "kirin": (_entry("liteadaptor"),),
        "unisoc": (_entry("unisoc-npu"),),
    }
)
"""Driver sets by the name in `socs.csv`. Names as listed by phones in public logs; unisoc-npu is assumed."""

SHARED_BUFFERS_SINCE_LEVEL: Final = 4
"""Memory domains came with NNAPI 1.3: drivers before it copy."""

_DRIVER_LEVEL_LAG: Final = 1
"""A vendor's driver is one feature level behind the runtime, and never below 3. Assumed: "usually lower"."""


def nnapi_drivers(soc: Soc, api: int) -> tuple[Driver, ...]:
    """Drivers that NNAPI lists on the SoC under this Android version, without the CPU reference.

    Empty below NNAPI 1.2, which has no list of devices.
    """
    runtime = feature_level(NNAPI_LEVEL_OF_API[api]) or 0
    if runtime < MIN_NNAPI_LEVEL:
        return ()
    level = max(MIN_NNAPI_LEVEL, runtime - _DRIVER_LEVEL_LAG)
    return tuple(_driver(entry, soc, api, level) for entry in DRIVER_SETS[soc.npu])


def _driver(entry: _Entry, soc: Soc, api: int, level: int) -> Driver:
    suffix = "_shim" if entry.name.startswith("mtk-") and api >= AIDL_SINCE_API else ""
    engine = _gpu_driver(soc) if entry.family == "gpu" else FAMILIES[entry.family].engine(soc.npu_gmacs)
    if level < SHARED_BUFFERS_SINCE_LEVEL:
        engine = engine.times(dispatch_us=1 / SHARED_BUFFER_FACTOR, cut_us=1 / SHARED_BUFFER_FACTOR)
    return Driver(
        name=entry.name + suffix,
        kind=entry.kind,
        version=driver_version(entry.name, soc, api),
        level=level,
        support=at_level(DRIVERS[entry.support], level),
        engine=engine,
    )


def _gpu_driver(soc: Soc) -> Engine:
    return soc.gpu.times(float_gmacs=GPU_DRIVER_RATIO, int8_gmacs=GPU_DRIVER_RATIO)


_VERSIONS: Final = MappingProxyType(
    {
        "google-edgetpu": "2.{minor}",
        "google-armnn": "23.{minor}",
        "eden-drv": "EdenDriver_1_{minor}",
        "enn": "2.{minor}.0",
    }
)


def driver_version(name: str, soc: Soc, api: int) -> str:
    """Free text, as vendors write it: MediaTek says the same on every phone, others count. Forms as in public logs."""
    if name.startswith("mtk-"):
        return "ACCELERATOR_APUSYS" if api < AIDL_SINCE_API else f"neuron-{api - 27}.{soc.api_min - 26}"
    return _VERSIONS.get(name, "1.{minor}.0").format(minor=api - 28)


VENDOR_SINCE_API: Final = 34
"""Vendor runtimes that LiteRT ships plug-ins for load from here on. Assumed."""
_VENDOR_DISPATCH_FACTOR: Final = 0.7
"""Dispatch without NNAPI in between. Assumed."""


def vendor_runtimes(soc: Soc, api: int) -> tuple[VendorRuntime, ...]:
    """Vendor runtimes that load: QNN where there is a Hexagon, Neuron and EdgeTPU on recent flagships."""
    found = []
    if soc.htp_gmacs:
        found.append(
            VendorRuntime(Delegate.QNN, "2.41.0", _htp_support(soc), FAMILIES["qnn-htp"].engine(soc.htp_gmacs))
        )
    if soc.npu == "mtk-shim" and api >= VENDOR_SINCE_API:
        engine = FAMILIES["mtk-neuron"].engine(soc.npu_gmacs).times(dispatch_us=_VENDOR_DISPATCH_FACTOR)
        found.append(VendorRuntime(Delegate.NEURON, "8.2.6", DRIVERS["mtk-neuron"], engine))
    return tuple(found)


def _htp_support(soc: Soc) -> OperatorSupport:
    """Float runs on a Hexagon that computes FP16; the catalogue says which do."""
    entry = catalog.socs().entries.get(soc.name)
    fp16 = bool(entry and entry.npu and entry.npu.fp16)
    support = DRIVERS["qnn-htp"]
    return support if fp16 else OperatorSupport(frozenset(), support.int8)
