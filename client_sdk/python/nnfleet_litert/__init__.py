"""Real runs with LiteRT: this machine as a device of the fleet. Needs the extra `litert`; the SDK itself needs none of it.

Beside `nnfleet_client`, not in it: an app on a phone brings its own runtime, and the SDK stays two small packages.
"""

from __future__ import annotations

from nnfleet_litert.artifacts import Artifacts
from nnfleet_litert.golden import GoldenReference, golden_reference
from nnfleet_litert.machine import machine_report
from nnfleet_litert.runner import LiteRtRunner
from nnfleet_litert.weights import WeightCache

__all__ = ["Artifacts", "GoldenReference", "LiteRtRunner", "WeightCache", "golden_reference", "machine_report"]
