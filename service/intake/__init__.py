"""Telemetry on its way in: bytes → records → verdicts, and what keeps it from taking more than its share."""
