"""Numbers for readers."""

from __future__ import annotations


def plain(value: float, digits: int = 3) -> str:
    """So many digits that matter, and a large number never as a power of ten: "0.845", "42.1", "1,450"."""
    rounded = float(f"{value:.{digits}g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 10**digits else f"{rounded:,.{digits}g}"
