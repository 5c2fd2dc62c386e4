"""Wrong outputs. Null: at most one window in a hundred of the cohort fails its golden check."""

from __future__ import annotations

from typing import Final

from ml.findings.counted import Failure

WRONG_OUTPUT: Final = Failure(
    name="wrong-output",
    count=lambda row: (row.golden_failed, row.golden_checked),
    columns=("failed", "checked"),
    null_share=0.01,
    says="{failed} of {tried} windows fail the golden check on {driver}",
)
