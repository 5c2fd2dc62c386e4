"""Modelled phones: what each arm of a camera model is like on one SoC and Android version."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Final

from ml.fleet.assumptions import (
    FAST_PREFERENCE_FACTOR,
    GOLDEN_ERROR,
    SUSTAINED_FACTOR,
)
from ml.fleet.drivers import Driver, VendorRuntime, nnapi_drivers, vendor_runtimes
from ml.fleet.editions import USUAL, Edition
from ml.fleet.faults import FAULTS, ArmOnPhone
from ml.fleet.models import CAMERA, CAMERA_MODELS, CameraModel, size_bytes
from ml.fleet.partition import EVERYTHING, PartitionRules, gpu_rules, nnapi_rules, split_graph, vendor_rules
from ml.fleet.silicon import Engine, Split, compile_us, steady
from ml.fleet.socs import Soc
from ml.fleet.support import GPU_DELEGATE
from ml.fleet.truth import Truth
from policies.vocabulary import MIN_NNAPI_LEVEL, Delegate

XNNPACK: Final = "TfLiteXNNPackDelegate"
NNAPI: Final = "TfLiteNnapiDelegate"
REFERENCE: Final = "nnapi-reference"
UNNAMED: Final = "nnapi"
_UNLISTED: Final = frozenset({UNNAMED, f"nnapi.{REFERENCE}"})
UNNAMED_DRIVER_US: Final = 5000.0
"""What NNAPI's own choice among drivers costs a run. Fitted: 5.65 ms against 0.65 on Tensor G4 (DroidRunner)."""
LIGHT: Final = 1

# Start and memory, all assumed: reading a file, the first run, the app itself and what a delegate adds.
_LOAD_US: Final = 400.0
_LOAD_US_PER_KB: Final = 0.15
_FIRST_RUN_US: Final = 2500.0
_FIRST_RUN_FACTOR: Final = 1.8
_BASE_KB: Final = 12_000
_DELEGATE_KB: Final = {Delegate.CPU: 3_000, Delegate.GPU: 45_000}
_ACCELERATOR_KB: Final = 22_000

_NO_OPENCL: Final = ("PowerVR Rogue",)
"""Renderers on which TFLite's GPU delegate does not start. Source: LiteRT's GPU allow-list, abridged: assumed."""


@dataclass(frozen=True)
class _Target:
    """Where an arm's graph goes. `name` is the arm id's end, `accelerator` the driver that computes."""

    name: str
    delegate: Delegate
    accelerator: str | None
    executor: str
    engine: Engine
    rules: PartitionRules


class ModelledBench:
    """Truth of every arm on one SoC under one Android version. Computed when first asked for, then kept."""

    def __init__(self, soc: Soc, api: int, edition: Edition = USUAL) -> None:
        self.soc = soc
        self.api = api
        self.edition = edition
        self.drivers: tuple[Driver, ...] = nnapi_drivers(soc, api)
        self.vendor_runtimes: tuple[VendorRuntime, ...] = vendor_runtimes(soc, api)
        self.gpu_works = not soc.renderer.startswith(_NO_OPENCL)
        self._truths: dict[tuple[str, str, str], Truth | None] = {}

    def arms(self, app: str, model: str) -> tuple[str, ...]:
        """CPU first, then GPU, NNAPI drivers and vendor runtimes.

        nnapi-reference and NNAPI without a named driver (`int8.tflite.nnapi`) run when asked, but are not listed.
        """
        known = CAMERA_MODELS.get(model) if app == CAMERA else None
        if known is None:
            return ()
        listed = [name for name in self._targets if name not in _UNLISTED]
        return tuple(f"{precision}.tflite.{name}" for name in listed for precision in known.forms)

    def truth(self, app: str, model: str, arm: str) -> Truth | None:
        """Behaviour of the arm; None where the phone has no such arm."""
        key = (app, model, arm)
        if key not in self._truths:
            self._truths[key] = self._truth(app, model, arm)
        return self._truths[key]

    @cached_property
    def _targets(self) -> dict[str, _Target]:
        return {target.name: target for target in self._all_targets()}

    def _all_targets(self) -> Iterator[_Target]:
        yield _Target("cpu", Delegate.CPU, None, XNNPACK, self.soc.cpu, EVERYTHING)
        if self.gpu_works:
            yield _Target("gpu", Delegate.GPU, None, "TfLiteGpuDelegateV2", self.soc.gpu, gpu_rules(GPU_DELEGATE.keys))
        yield from self._nnapi_targets()
        for runtime in self.vendor_runtimes:
            delegate, executor = runtime.delegate, f"TfLite{runtime.delegate.capitalize()}Delegate"
            yield _Target(str(delegate), delegate, None, executor, runtime.engine, vendor_rules(runtime.support.keys))

    def _nnapi_targets(self) -> Iterator[_Target]:
        for driver in self.drivers:
            name, rules = driver.canonical, nnapi_rules(driver.taken)
            yield _Target(f"nnapi.{name}", Delegate.NNAPI, name, f"{NNAPI}:{driver.name}", driver.engine, rules)
        if self.drivers:
            first = self.drivers[0]
            engine = replace(first.engine, dispatch_us=first.engine.dispatch_us + UNNAMED_DRIVER_US)
            yield _Target(UNNAMED, Delegate.NNAPI, first.canonical, NNAPI, engine, nnapi_rules(first.taken))
        if self.api >= FIRST_API_WITH_REFERENCE:
            executor = f"{NNAPI}:{REFERENCE}"
            yield _Target(f"nnapi.{REFERENCE}", Delegate.NNAPI, REFERENCE, executor, self.soc.reference, EVERYTHING)

    def _truth(self, app: str, model: str, arm: str) -> Truth | None:
        known = CAMERA_MODELS.get(model) if app == CAMERA else None
        precision, _, rest = arm.partition(".tflite.")
        target = self._targets.get(self._canonical(rest))
        if known is None or target is None or precision not in known.forms:
            return None
        truth = self._sound(target, precision, known)
        where = self._arm_on_phone(target, precision, known)
        for fault in FAULTS:
            if fault.hits(where):
                truth = fault.effect(truth, where)
        return truth

    def _canonical(self, rest: str) -> str:
        """`nnapi.<driver>` under the canonical name, whatever spelling the arm has."""
        delegate, _, accelerator = rest.partition(".")
        raw = {driver.name: driver.canonical for driver in self.drivers}
        return f"{delegate}.{raw.get(accelerator, accelerator)}" if accelerator else delegate

    def _sound(self, target: _Target, precision: str, model: CameraModel) -> Truth:
        split = _split(model.name, precision, target.rules)
        size = size_bytes(model.forms[precision])
        time = steady(split, target.engine, self.soc.cpu)
        started_us = _LOAD_US + self.soc.cpu.start.cold_us(split.nodes)
        asks_nnapi = target.delegate is Delegate.NNAPI and split.delegated_nodes > 0
        burst_us = time.total_us * (FAST_PREFERENCE_FACTOR if asks_nnapi else 1.0)
        return Truth(
            executed_by=target.executor if 2 * split.delegated_nodes >= split.nodes else XNNPACK,
            delegated_nodes=split.delegated_nodes,
            total_nodes=split.nodes,
            partitions=split.pieces if split.delegated else 0,
            steady_us=burst_us,
            hot_factor=SUSTAINED_FACTOR * time.total_us / burst_us,
            hot_status=LIGHT,
            load_us=_LOAD_US + _LOAD_US_PER_KB * size / 1024,
            compile_cold_us=started_us + compile_us(split, target.engine, cached=False),
            compile_cached_us=started_us + compile_us(split, target.engine, cached=True),
            first_run_us=_FIRST_RUN_US + _FIRST_RUN_FACTOR * burst_us,
            golden_error=GOLDEN_ERROR[precision],
            memory_kb=_BASE_KB + _DELEGATE_KB.get(target.delegate, _ACCELERATOR_KB) + 2 * size // 1024,
            accurate=model.accuracy_drop(precision) <= model.max_accuracy_drop,
        )

    def _arm_on_phone(self, target: _Target, precision: str, model: CameraModel) -> ArmOnPhone:
        return ArmOnPhone(
            soc=self.soc.name,
            api=self.api,
            edition=self.edition,
            precision=precision,
            delegate=target.delegate,
            accelerator=target.accelerator,
            operations=model.operations(precision),
            cpu_us=steady(_split(model.name, precision, EVERYTHING), self.soc.cpu, self.soc.cpu).total_us,
        )


@cache
def _split(model: str, precision: str, rules: PartitionRules) -> Split:
    return split_graph(CAMERA_MODELS[model].forms[precision], rules)


FIRST_API_WITH_REFERENCE: Final = 26 + MIN_NNAPI_LEVEL
"""Android 10: the first whose NNAPI lists its devices by name."""
