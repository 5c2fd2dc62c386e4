"""CapabilityReports as a probe sends them: canonical JSON, the same bytes for every phone of a class."""

from __future__ import annotations

import json
import zlib
from functools import cache
from typing import Any, Final

from ml.fleet.architectures import probe_graph
from ml.fleet.assumptions import NNAPI_LEVEL_OF_API
from ml.fleet.classes import DeviceClass
from ml.fleet.drivers import Driver
from ml.fleet.forms import FORMS
from ml.fleet.modelled import FIRST_API_WITH_REFERENCE, REFERENCE, ModelledBench
from ml.fleet.partition import PartitionRules, nnapi_rules, split_graph
from ml.fleet.silicon import Split, compile_us, steady
from ml.fleet.support import reported
from policies.vocabulary import FEATURE_LEVEL_VALUES, Delegate

PROBE: Final = {"name": "nnfleet-probe", "version": "1.0.0"}
QNN_VERSION: Final = "2.50.0"
"""Of the toolchain that AI Hub measured with."""

_ANDROID: Final = {
    27: ("8.1.0", "OPM1.171019.011"),
    28: ("9", "PKQ1.181007.001"),
    29: ("10", "QKQ1.190915.002"),
    30: ("11", "RKQ1.200826.002"),
    31: ("12", "SKQ1.211006.001"),
    32: ("12", "SP2A.220505.002"),
    33: ("13", "TKQ1.221114.001"),
    34: ("14", "UKQ1.230917.001"),
    35: ("15", "AP3A.240905.015"),
    36: ("16", "BP2A.250605.031"),
    37: ("17", "CP1A.260405.005"),
}
"""API level → version and a build number of the form vendors use."""

FIRST_API_WITH_NNAPI: Final = 27
"""Optional there: phones without any driver are taken to lack it, 4 % of the market of 7 (assumed who they are)."""

_VULKAN_SINCE_API: Final = {27: "1.0", 29: "1.1", 33: "1.3"}
_SHARED_BUFFERS_SINCE_API: Final = 26
_MEMORY_DOMAINS_SINCE_API: Final = 30


def report(device: DeviceClass, bench: ModelledBench | None) -> bytes:
    """The report of a class; `bench` is that of a modelled one."""
    body = {
        "schema": 1,
        "device": _device(device),
        "nnapi": _nnapi(device, bench),
        "gpu": _gpu(device),
        "runtimes": _runtimes(bench) | _library(device),
        "memory": {
            "ahardwarebuffer": device.api >= _SHARED_BUFFERS_SINCE_API,
            "memory_domains": device.api >= _MEMORY_DOMAINS_SINCE_API,
        },
        "probe": PROBE | {"failures": []},
    }
    return json.dumps(body, separators=(",", ":"), sort_keys=True).encode()


def _device(device: DeviceClass) -> dict[str, Any]:
    product = device.product
    version, build = _ANDROID[device.api]
    incremental = zlib.crc32(device.key.encode()) % 10**8
    facts: Any = device.soc or device.chipset
    told = {} if device.edition.soc_id is None else {"soc_id": device.edition.soc_id}
    return told | {
        "manufacturer": product.manufacturer,
        "brand": product.brand,
        "model": product.model,
        "product": product.product,
        "soc_manufacturer": device.soc.manufacturer if device.soc else "QTI",
        "soc_model": device.soc.model if device.soc else facts.soc_model,
        "api_level": device.api,
        "build_fingerprint": (
            f"{product.brand}/{product.product}/{product.product}:{version}/{build}/{incremental}:user/release-keys"
        ),
        "abis": ["arm64-v8a", "armeabi-v7a"] if device.api < 35 else ["arm64-v8a"],
        "ram_mb": facts.ram_mb,
        "cpu": {"cores": facts.cores, "features": list(facts.features)},
    }


def _nnapi(device: DeviceClass, bench: ModelledBench | None) -> dict[str, Any] | None:
    if device.api == FIRST_API_WITH_NNAPI and bench is not None and not bench.soc.npu:
        return None
    runtime = NNAPI_LEVEL_OF_API[device.api]
    devices = [_driver(driver, bench) for driver in bench.drivers] if bench else []
    if device.api >= FIRST_API_WITH_REFERENCE:
        devices.append({"name": REFERENCE, "type": "cpu", "version": _ANDROID[device.api][1], "feature_level": runtime})
    return {"runtime_feature_level": runtime, "devices": devices}


def _driver(driver: Driver, bench: ModelledBench) -> dict[str, Any]:
    return {
        "name": driver.name,
        "type": driver.kind,
        "version": driver.version,
        "feature_level": FEATURE_LEVEL_VALUES[driver.level - 1],
        "supports": reported(driver.support, driver.level),
        "probe": _probe(driver, bench),
    }


def _probe(driver: Driver, bench: ModelledBench) -> dict[str, Any]:
    """The probe's graph on this driver, in INT8 where it takes that.

    The faults of a class do not show here: they need a real model. That is why telemetry has to find them.
    """
    split = _probe_split("int8" if driver.support.int8 else "fp32", nnapi_rules(driver.taken))
    time = steady(split, driver.engine, bench.soc.cpu)
    return {
        "compile_ms": round(compile_us(split, driver.engine, cached=False) / 1e3, 1),
        "execute_ms": round(time.total_us / 1e3, 3),
        "status": "ok" if split.delegated else "unsupported",
    }


@cache
def _probe_split(precision: str, rules: PartitionRules) -> Split:
    return split_graph(FORMS[precision](probe_graph()), rules)


def _gpu(device: DeviceClass) -> dict[str, Any]:
    renderer = device.soc.renderer if device.soc else device.chipset.renderer if device.chipset else ""
    vulkan = max((api, version) for api, version in _VULKAN_SINCE_API.items() if api <= device.api)[1]
    return {"renderer": renderer, "gles": "3.2", "vulkan": vulkan, "opencl": "2.0" if device.api < 33 else "3.0"}


def _library(device: DeviceClass) -> dict[str, str]:
    """What the app loads models with, where it says so."""
    return {} if device.edition.tflite is None else {"litert": f"loaded {device.edition.tflite}"}


def _runtimes(bench: ModelledBench | None) -> dict[str, str]:
    """Vendor runtimes that the probe tried to load."""
    if bench is None:
        return {"qnn": f"loaded {QNN_VERSION}", "neuron": "absent", "edgetpu": "absent"}
    loaded = {str(runtime.delegate): f"loaded {runtime.version}" for runtime in bench.vendor_runtimes}
    return {str(name): loaded.get(name, "absent") for name in (Delegate.QNN, Delegate.NEURON, Delegate.EDGETPU)}
