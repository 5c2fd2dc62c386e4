"""Frozen variances."""

FROZEN: dict[str, float] = {}
