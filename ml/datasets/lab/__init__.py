"""Measurements from labs: files that benchmark tools wrote → who was asked, who executed, how long it took.

A tool a module. Patterns follow what the tools print, as real logs of public issue threads hold it; nothing is guessed: what
a file does not say is None.
"""

from __future__ import annotations

from ml.datasets.lab.measurement import Claim, LabFileError, LabMeasurement, Source
from ml.datasets.lab.reading import read

__all__ = ["Claim", "LabFileError", "LabMeasurement", "Source", "read"]
