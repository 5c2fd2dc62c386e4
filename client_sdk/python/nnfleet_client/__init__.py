"""The device side of nnfleet: ask once, walk the ladder, report what really ran."""

from __future__ import annotations

from nnfleet_client.assign import AssignedBy, bucket_of, normalise_unit_id
from nnfleet_client.client import FleetClient, Outcome, Settings
from nnfleet_client.clock import Clock, SystemClock
from nnfleet_client.decisions import Refresh
from nnfleet_client.errors import (
    ArmFailed,
    InvalidDefaultError,
    InvalidHistogramError,
    InvalidUnitIdError,
    NnfleetClientError,
    ProcessDied,
    RunTimeout,
    UnknownModelError,
)
from nnfleet_client.histogram import Histogram
from nnfleet_client.ladder import Ending, Step
from nnfleet_client.plan import Plan, Rung
from nnfleet_client.poller import Poller
from nnfleet_client.report import report_id
from nnfleet_client.runner import Executed, GoldenResult, Init, MeasuresMemory, Runner, Session
from nnfleet_client.situations import Thermal
from nnfleet_client.store import Reason
from nnfleet_client.telemetry import Flushed
from nnfleet_client.transport import Transport
from nnfleet_client.version import __version__
from nnfleet_client.window import Window

__all__ = [
    "ArmFailed",
    "AssignedBy",
    "Clock",
    "Ending",
    "Executed",
    "FleetClient",
    "Flushed",
    "GoldenResult",
    "Histogram",
    "Init",
    "InvalidDefaultError",
    "InvalidHistogramError",
    "InvalidUnitIdError",
    "MeasuresMemory",
    "NnfleetClientError",
    "Outcome",
    "Plan",
    "Poller",
    "ProcessDied",
    "Reason",
    "Refresh",
    "RunTimeout",
    "Rung",
    "Runner",
    "Session",
    "Settings",
    "Step",
    "SystemClock",
    "Thermal",
    "Transport",
    "UnknownModelError",
    "Window",
    "__version__",
    "bucket_of",
    "normalise_unit_id",
    "report_id",
]
