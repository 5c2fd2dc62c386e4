"""The command `nnfleet`. Each command loads what it needs when it runs."""

from __future__ import annotations

from service.cli.app import app as main

__all__ = ["main"]
