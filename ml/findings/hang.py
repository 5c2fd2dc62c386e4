"""Hangs. Null: at most one window in two hundred of the cohort holds a run that timed out."""

from __future__ import annotations

from typing import Final

from ml.findings.counted import Failure

HANG: Final = Failure(
    name="hang",
    count=lambda row: (row.timed_out, row.windows),
    columns=("timed_out", "windows"),
    null_share=0.005,
    says="{failed} of {tried} windows of {driver} timed out",
)
