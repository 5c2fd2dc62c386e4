"""What conditions may ask: a fingerprint, a model, an arm and the learned, as roots of the policy language.

None is "not known". `policies.language.device_vocabulary` names what stands here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from policies.arm import Arm
from policies.canonical import model_key
from policies.default_rule import ArmCoverage
from policies.fingerprint import Fingerprint
from policies.knowledge import Knowledge, Ranking
from policies.model import ModelSpec
from policies.silicon import Accelerator, Gpu, Presence
from policies.vocabulary import Workload

Facts = Mapping[str, Any]
_NOTHING_KNOWN: Final[Facts] = {}
_VERSION: Final = re.compile(r"\d+(?:\.\d+)+", re.ASCII)


def device_roots(facts: Fingerprint) -> dict[str, Any]:
    """`device`, `accelerators` and `gpu`."""
    return {
        "device": _device(facts),
        "accelerators": [_accelerator(one, index) for index, one in enumerate(facts.accelerators)],
        "gpu": _gpu(facts.gpu) if facts.gpu else _NOTHING_KNOWN,
    }


def _device(facts: Fingerprint) -> Facts:
    return {
        "device_class": facts.device_class,
        "driver_stack": facts.driver_stack,
        "manufacturer": facts.manufacturer,
        "model": facts.model,
        "model_key": model_key(facts.model),
        "soc": facts.soc,
        "soc_id": facts.soc_id,
        "soc_vendor": facts.soc_vendor,
        "api_level": facts.api_level,
        "ram_gb": facts.ram_gb,
        "abis": facts.abis,
        "cpu_cores": facts.cpu_cores,
        "cpu_features": facts.cpu_features,
        "nnapi_level": facts.nnapi_level,
        "shared_buffers": facts.shared_buffers,
        "build": facts.build,
        "population": facts.population,
        "anomalies": [anomaly.code for anomaly in facts.anomalies],
        "runtimes": {r.name: {"loads": _LOADS[r.presence], "version": r.version} for r in facts.runtimes},
        "hints": facts.hints,
    }


_LOADS: Final = {Presence.YES: True, Presence.NO: False, Presence.UNKNOWN: None}


_PLACE: Final = "#"
"""Where an accelerator stands in the fingerprint: no name of the language, so that only `supports` sees it."""


def _accelerator(one: Accelerator, index: int) -> Facts:
    return {
        _PLACE: index,
        "name": one.name,
        "raw_name": one.raw_name,
        "kind": one.kind,
        "driver_version": one.driver_version,
        "level": one.level,
        "int8": one.int8,
        "fp16": one.fp16,
        "probe_status": one.probe_status,
        "no_faster_than_cpu": one.reference.no_faster_than_cpu if one.reference and not one.is_cpu else None,
    }


def _gpu(gpu: Gpu) -> Facts:
    """API versions as the number in what the driver writes: "3.2" of "OpenGL ES 3.2 V@0502.0"."""
    return {
        "family": gpu.family,
        "renderer": gpu.renderer,
        "gles": _version(gpu.gles),
        "gles_text": gpu.gles,
        "vulkan": _version(gpu.vulkan),
        "opencl": _version(gpu.opencl),
    }


def _version(text: str | None) -> str | None:
    found = _VERSION.search(text or "")
    return found.group() if found else None


def supports_of(facts: Fingerprint) -> Callable[..., bool | None]:
    """`supports(operation, type)` of any accelerator that is no CPU, and `accelerator.supports(operation, type)`.

    Measured only: None where no probe asked the driver.
    """

    def supports(*asked: Any) -> bool | None:
        *of, operation, operand = asked
        if of:
            return _takes(facts.accelerators[of[0][_PLACE]], operation, operand)
        answers = {_takes(one, operation, operand) for one in facts.accelerators if not one.is_cpu}
        return True if True in answers else None if None in answers else False

    return supports


def _takes(one: Accelerator, operation: str, operand: str) -> bool | None:
    return None if one.supports is None else operand in one.supports.get(operation, ())


def model_roots(model: ModelSpec, knowledge: Knowledge) -> dict[str, Any]:
    """`model` and `history`."""
    return {
        "model": {
            "name": model.name,
            "task": model.task,
            "family": model.family,
            "latency_target_ms": model.latency_target_ms,
            "max_accuracy_drop": model.max_accuracy_drop,
            "params": model.params,
            "transformer_like": model.transformer_like,
        },
        "history": {str(workload): _learned(knowledge.ranking(model.name, workload)) for workload in Workload},
    }


def _learned(ranking: Ranking | None) -> Facts:
    """Nobody measured: no windows, which is known; and no lead, which is not."""
    ranked = ranking.ranked if ranking else ()
    lead = ranked[0] if ranked else None
    return {
        "windows": sum(row.n for row in ranked),
        "lead": lead and lead.arm,
        "expected_ms": lead and lead.expected_ms,
        "sd_log": lead and lead.sd_log,
    }


def arm_roots(arm: Arm, coverage: ArmCoverage, facts: Fingerprint) -> dict[str, Any]:
    """`arm`, `variant` and `coverage`."""
    variant = arm.variant
    place = next((index for index, one in enumerate(facts.accelerators) if one is arm.accelerator), 0)
    known = coverage.share is not None
    return {
        "arm": {
            "id": arm.id,
            "delegate": arm.delegate,
            "accelerator": _accelerator(arm.accelerator, place) if arm.accelerator else None,
        },
        "variant": {
            "id": variant.id,
            "precision": variant.precision,
            "format": variant.format,
            "runtime": variant.runtime,
            "size_bytes": variant.size_bytes,
            "accuracy_drop": variant.accuracy_drop,
            "for_this_chip": bool(variant.targets),
        },
        "coverage": {
            "share": coverage.share,
            "cuts": coverage.cuts if known else None,
            "basis": coverage.basis if known else None,
        },
    }
