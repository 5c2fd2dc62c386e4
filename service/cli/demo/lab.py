"""The operator's lab: phones that run what a learning run asks for, cool and hot, and report it as any phone does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from ml.findings.lab import Soak
from ml.fleet import Fleet, Phone
from ml.fleet.assumptions import HOT_AFTER_MINUTES, SESSION_MINUTES
from nnfleet_client import FleetClient, Transport
from service.cli.demo.rounds import RUNS_A_WINDOW
from service.cli.demo.runner import PhoneRunner

MINUTES: Final = (0.0, 2.0, HOT_AFTER_MINUTES, SESSION_MINUTES / 2)
"""When a soak makes its windows: two before the phone is hot and two after."""
CPU: Final = "int8.tflite.cpu"
"""What a client's bundled default ends with; a lab phone never gets there unless the arm fails."""


def soak(fleet: Fleet, asked: Iterable[Soak], transport: Transport, seed: int) -> int:
    """Do what is asked on one phone of each SoC; returns how many arms were soaked."""
    rng = np.random.default_rng(seed)
    phones = {phone.soc: phone for phone in fleet.phones}
    done = [one for one in asked if one.soc in phones]
    for one in done:
        _soak(phones[one.soc], one, transport, rng)
    return len(done)


def _soak(phone: Phone, asked: Soak, transport: Transport, rng: np.random.Generator) -> None:
    """A lab phone asks nobody: its client's default is the arm it is told to run, so that no release is credited."""
    ladder = {arm: {"delegate": arm.split(".")[2]} for arm in dict.fromkeys((asked.arm, CPU))}
    client = FleetClient(app=asked.app, report=phone.report, default={asked.model: ladder}, server=transport)
    for minute in MINUTES:
        runner = PhoneRunner(phone, asked.app, minute, rng)
        client.use(asked.model, runner, RUNS_A_WINDOW, workload="sustained", conditions=runner.conditions)
    client.flush()
