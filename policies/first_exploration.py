"""Which arms a class tries before anything is known: arms that differ in kind, another draw for every class."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final

from policies.arm import Arm
from policies.default_rule import CPU, GPU, LEADS, Placed

MOST_ARMS: Final = 4
MOST_ACCELERATED: Final = 3
"""Of the arms tried, at most this many use what the rule would lead with; the rest measure the CPU and the GPU."""


def first_explored(placed: Iterable[Placed], lead: str, seed: str) -> list[str]:
    """Ids of up to MOST_ARMS arms beside the lead: one of each (precision, delegate, accelerator), so that a few units
    tell the most.

    `seed` names class and model: the fleet together sees all arms, and every lookup gives the same ones.
    """
    kinds: dict[tuple[str, str, str], Placed] = {}
    worth = sorted(
        (p for p in placed if LEADS <= p.tier <= GPU), key=lambda p: (p.arm.id != lead, _draw(seed, p.arm.id))
    )
    for candidate in worth:
        kinds.setdefault(_kind(candidate.arm), candidate)
    others = [candidate for candidate in kinds.values() if candidate.arm.id != lead]
    accelerated = [p.arm.id for p in others if p.tier < CPU][:MOST_ACCELERATED]
    plain = [p.arm.id for p in others if p.tier >= CPU]
    return [*accelerated, *plain][:MOST_ARMS]


def _kind(arm: Arm) -> tuple[str, str, str]:
    return arm.variant.precision, arm.delegate, arm.accelerator.name if arm.accelerator else ""


def _draw(seed: str, arm: str) -> bytes:
    return hashlib.sha256(f"{seed}:{arm}".encode()).digest()
