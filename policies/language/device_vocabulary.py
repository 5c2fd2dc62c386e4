"""The roots that a policy's conditions may name, and the facts below each."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from policies import catalog
from policies.canonical import canonical_accelerator, canonical_gpu, canonical_manufacturer, canonical_soc, model_key
from policies.language.kinds import (
    INTEGER,
    NUMBER,
    OPEN,
    TEXT,
    YES_NO,
    ListOf,
    Record,
    Vocabulary,
    counted,
    spelled,
    words,
)
from policies.population import Population
from policies.vocabulary import Delegate, Format, Precision, Runtime, Workload, feature_level

_RUNTIME: Final = Record("a vendor runtime", {"loads": YES_NO, "version": TEXT})
_HINTS: Final = Record("device.hints", {"year": NUMBER, "tier": NUMBER, "npu_version": NUMBER, "npu_fp16": NUMBER})
_DEVICE: Final = Record(
    "device",
    {
        "device_class": TEXT,
        "driver_stack": TEXT,
        "manufacturer": spelled(canonical_manufacturer),
        "model": TEXT,
        "model_key": spelled(model_key),
        "soc": spelled(canonical_soc),
        "soc_id": INTEGER,
        "soc_vendor": TEXT,
        "api_level": INTEGER,
        "ram_gb": INTEGER,
        "abis": ListOf(TEXT),
        "cpu_cores": INTEGER,
        "cpu_features": ListOf(TEXT),
        "nnapi_level": counted(feature_level),
        "shared_buffers": YES_NO,
        "build": TEXT,
        "population": words(*Population),
        "anomalies": ListOf(TEXT),
        "runtimes": Record("device.runtimes", dict.fromkeys(sorted(catalog.runtimes().entries), _RUNTIME)),
        "hints": _HINTS,
    },
)
ACCELERATOR: Final = Record(
    "an accelerator",
    {
        "name": spelled(canonical_accelerator),
        "raw_name": TEXT,
        "kind": words("npu", "dsp", "gpu", "cpu", "front", "sample", "other"),
        "driver_version": TEXT,
        "level": counted(feature_level),
        "int8": YES_NO,
        "fp16": YES_NO,
        "probe_status": TEXT,
        "no_faster_than_cpu": YES_NO,
    },
)
_GPU: Final = Record(
    "gpu",
    {
        "family": spelled(canonical_gpu),
        "renderer": TEXT,
        "gles": TEXT,
        "gles_text": TEXT,
        "vulkan": TEXT,
        "opencl": TEXT,
    },
)
_MODEL: Final = Record(
    "model",
    {
        "name": TEXT,
        "task": TEXT,
        "family": TEXT,
        "latency_target_ms": NUMBER,
        "max_accuracy_drop": NUMBER,
        "params": NUMBER,
        "transformer_like": YES_NO,
    },
)
_VARIANT: Final = Record(
    "variant",
    {
        "id": TEXT,
        "precision": words(*Precision),
        "format": words(*Format),
        "runtime": words(*Runtime),
        "size_bytes": INTEGER,
        "accuracy_drop": NUMBER,
        "for_this_chip": YES_NO,
    },
)
_ARM: Final = Record("arm", {"id": TEXT, "delegate": words(*Delegate), "accelerator": ACCELERATOR})
_COVERAGE: Final = Record("coverage", {"share": NUMBER, "cuts": INTEGER, "basis": words("measured", "mapped")})
_RANKED: Final = Record("a ranking", {"windows": INTEGER, "lead": TEXT, "expected_ms": NUMBER, "sd_log": NUMBER})
_HISTORY: Final = Record("history", {str(workload): _RANKED for workload in Workload})

DEVICE_VOCABULARY: Final = Vocabulary(
    MappingProxyType(
        {
            "device": _DEVICE,
            "accelerators": ListOf(ACCELERATOR),
            "gpu": _GPU,
            "model": _MODEL,
            "variant": _VARIANT,
            "arm": _ARM,
            "coverage": _COVERAGE,
            "history": _HISTORY,
            "request": OPEN,
        }
    )
)
"""What the rules and denies of a PolicyDocument are written in."""
