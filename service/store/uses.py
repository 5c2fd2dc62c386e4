"""Uses that a release served and phones measured: what off-policy estimates are made from."""

from __future__ import annotations

from typing import Final, NamedTuple

from sqlalchemy import text
from sqlmodel import Session

MOST: Final = 20_000

_USES: Final = text(
    """
    SELECT device_class, app, model, arm, propensity, latency_p50_us / 1000.0 AS latency_ms
    FROM observation
    WHERE release = :release AND kind = 'window' AND set_aside IS NULL AND coalesce(workload, 'burst') = 'burst'
      AND run_count > 0 AND latency_p50_us > 0 AND propensity > 0 AND coalesce(fallbacks, 0) = 0
    ORDER BY record_id DESC LIMIT :most
    """
)


class Use(NamedTuple):
    """One measured window of the arm that the split started with, and the chance that it had."""

    device_class: str
    app: str
    model: str
    arm: str
    propensity: float
    latency_ms: float


def of_release(session: Session, release: int) -> list[Use]:
    """The newest uses under a release."""
    return [Use(*row) for row in session.connection().execute(_USES, {"release": release, "most": MOST})]
