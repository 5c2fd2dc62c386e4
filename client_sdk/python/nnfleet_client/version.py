"""The version, in the one place that both the package and its records read."""

from __future__ import annotations

from typing import Final

__version__ = "0.1.0"

SDK: Final = f"python/{__version__}"
