"""The name of a capability report is the digest of its bytes."""

from __future__ import annotations

from hashlib import sha256


def report_id(report: bytes) -> str:
    """Lowercase hex SHA-256 of the exact bytes that are uploaded: 64 characters.

    Never of a parsed and written-again form: another spacing is another report.
    """
    return sha256(report).hexdigest()
