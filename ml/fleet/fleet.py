"""A simulated fleet: phones over measured and modelled silicon, with the faults that the field reports.

About 40 % of the phones run AI Hub's models with the measured latency as truth, the others run real graphs on modelled
silicon. Everything follows from the seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from ml.fleet.aihub import AiHubModel, aihub_models
from ml.fleet.assumptions import FAULT_FLOOR_SHARE, MEASURED_SHARE
from ml.fleet.classes import DeviceClass, chipsets, measured_classes, modelled_classes
from ml.fleet.editions import Edition
from ml.fleet.faults import FAULTS, Fault
from ml.fleet.measured import MeasuredBench
from ml.fleet.modelled import ModelledBench
from ml.fleet.models import CAMERA, CAMERA_MODELS, aihub_specs, camera_spec
from ml.fleet.phone import Phone, expected_ms
from ml.fleet.reports import report

MODELS_A_PHONE: Final = (2, 4)
"""Fewest and most models in use. Assumed."""
APPS_A_PHONE: Final = 2


@dataclass(frozen=True, eq=False)
class Fleet:
    """Phones, the models they run, and the faults among them."""

    phones: tuple[Phone, ...]
    models: tuple[dict[str, Any], ...]
    faults: tuple[Fault, ...]

    def arms(self, phone: Phone, app: str, model: str) -> tuple[str, ...]:
        """Arms that physically exist on the phone for the model; some of them fail or are wrong."""
        return phone.bench.arms(app, model)

    def true_latency_ms(self, phone: Phone, app: str, model: str, arm_id: str, workload: str) -> float | None:
        """Expected steady latency without noise.

        None where the arm does not exist, crashes, never returns, gives wrong outputs or breaks the accuracy budget.
        """
        return expected_ms(phone.bench.truth(app, model, arm_id), workload)

    def best(self, phone: Phone, app: str, model: str, workload: str) -> tuple[str, float]:
        """(arm, latency in ms) of the fastest acceptable arm. Raises ValueError where the phone has none."""
        times = [(self.true_latency_ms(phone, app, model, arm, workload), arm) for arm in self.arms(phone, app, model)]
        latency_ms, arm = min((time, arm) for time, arm in times if time is not None)
        return arm, latency_ms

    @cached_property
    def device_classes(self) -> tuple[str, ...]:
        """Distinct device classes, sorted."""
        return tuple(sorted({phone.device_class for phone in self.phones}))


def build_fleet(devices: int = 2000, seed: int = 0, models: int | None = None) -> Fleet:
    """A fleet of `devices` phones. `models` limits AI Hub's models to the most measured ones.

    Raises ValueError where there are fewer than one device or one model.
    """
    if devices < 1 or (models is not None and models < 1):
        raise ValueError("a fleet has at least one device and one model")
    rng = np.random.default_rng(seed)
    known = aihub_models()[:models]
    measured_count = round(devices * MEASURED_SHARE)
    phones = [
        *_measured_phones(known, measured_count, rng),
        *_modelled_phones(devices - measured_count, devices, rng),
    ]
    order = rng.permutation(len(phones))
    return Fleet(
        phones=tuple(phones[index] for index in order),
        models=(*(camera_spec(model) for model in CAMERA_MODELS.values()), *aihub_specs(known)),
        faults=tuple(_counted(fault, phones) for fault in FAULTS),
    )


def _counted(fault: Fault, phones: Sequence[Phone]) -> Fault:
    return replace(fault, phones=sum(fault.name in phone.faults for phone in phones))


def _measured_phones(known: Sequence[AiHubModel], count: int, rng: np.random.Generator) -> Iterator[Phone]:
    benches = {chipset.key: MeasuredBench(chipset.key, known) for chipset in chipsets()}
    classes = measured_classes(chipset for chipset in chipsets() if benches[chipset.key].models)
    for device, phones in zip(classes, allotted([device.weight for device in classes], count), strict=True):
        bench = benches[device.chipset_key]
        body = report(device, None)
        for _ in range(phones):
            in_use = _draw_in_apps(bench.models, rng)
            yield Phone(
                _unit(rng), body, device.soc_name, device.chipset_key, device.kind, device.key, in_use, (), bench
            )


def _modelled_phones(count: int, devices: int, rng: np.random.Generator) -> Iterator[Phone]:
    classes = _with_fault_floors(modelled_classes(), FAULT_FLOOR_SHARE * devices / max(1, count))
    benches: dict[tuple[str, int, Edition], ModelledBench] = {}
    camera = tuple((CAMERA, name) for name in CAMERA_MODELS)
    for device, phones in zip(classes, allotted([device.weight for device in classes], count), strict=True):
        if device.soc is None or not phones:
            continue
        where = (device.soc.name, device.api, device.edition)
        bench = benches.setdefault(where, ModelledBench(device.soc, device.api, device.edition))
        body = report(device, bench)
        faults = tuple(fault.name for fault in FAULTS if fault.on_class(*where))
        for _ in range(phones):
            in_use = _draw(camera, rng)
            yield Phone(
                _unit(rng), body, device.soc_name, device.soc_name, device.kind, device.key, in_use, faults, bench
            )


def _with_fault_floors(classes: Sequence[DeviceClass], floor: float) -> list[DeviceClass]:
    """The classes with weights raised so that each fault's together have at least the share `floor` of the total."""
    found = list(classes)
    for fault in FAULTS:
        total = sum(device.weight for device in found)
        mine = [
            device.soc is not None and fault.on_class(device.soc.name, device.api, device.edition) for device in found
        ]
        share = sum(device.weight for device, hit in zip(found, mine, strict=True) if hit) / total
        if 0 < share < floor:
            factor = floor / share * (1 - share) / (1 - floor)
            found = [
                replace(device, weight=device.weight * factor) if hit else device
                for device, hit in zip(found, mine, strict=True)
            ]
    return found


def allotted(weights: Sequence[float], count: int) -> list[int]:
    """`count` split in proportion to `weights`, by systematic rounding: every cumulative share is met within one."""
    total = sum(weights)
    found, cumulative, given = [], 0.0, 0
    for weight in weights:
        cumulative += weight
        upto = round(count * cumulative / total)
        found.append(upto - given)
        given = upto
    return found


def _draw(models: Sequence[tuple[str, str]], rng: np.random.Generator) -> tuple[tuple[str, str], ...]:
    fewest, most = MODELS_A_PHONE
    count = min(len(models), int(rng.integers(fewest, most + 1)))
    chosen = rng.choice(len(models), size=count, replace=False)
    return tuple(models[index] for index in sorted(chosen))


def _draw_in_apps(models: Sequence[tuple[str, str]], rng: np.random.Generator) -> tuple[tuple[str, str], ...]:
    """Models of few apps: a phone has one or two apps installed, not one for each model."""
    apps = sorted({app for app, _model in models})
    weights = np.array([sum(app == found for found, _model in models) for app in apps], float)
    count = min(APPS_A_PHONE, len(apps))
    chosen = {apps[index] for index in rng.choice(len(apps), size=count, replace=False, p=weights / weights.sum())}
    return _draw([model for model in models if model[0] in chosen], rng)


def _unit(rng: np.random.Generator) -> str:
    return rng.bytes(16).hex()
