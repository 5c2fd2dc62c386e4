"""Crashes. Null: at most one start in two hundred of the cohort is followed by nothing."""

from __future__ import annotations

from typing import Final

from ml.findings.counted import Failure

CRASH: Final = Failure(
    name="crash",
    count=lambda row: (row.crashed, row.starts),
    columns=("crashed", "starts"),
    null_share=0.005,
    says="{failed} of {tried} starts of {driver} ended the process",
)
