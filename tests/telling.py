"""What tests count and a reader wants to see. It goes with their reports, as they may run in several processes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Final

import pytest

TITLES: Final = {"said": "what faults came to", "rates": "detection and false alarms"}
"""Section of the summary at the end of a run, by the property of a test's report."""


def tell(terminal: pytest.TerminalReporter) -> None:
    """Print what the tests of this run noted."""
    reports = [report for outcome in ("passed", "failed") for report in terminal.getreports(outcome)]
    for name, title in TITLES.items():
        rows = [cells for report in reports for key, cells in report.user_properties if key == name]
        if rows:
            terminal.section(title)
            terminal.write_line("\n".join(aligned(rows)))


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """A line a row, its columns under one another."""
    widths = [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)).rstrip() for row in rows]
