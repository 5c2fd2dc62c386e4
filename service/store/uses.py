"""Uses that a release served and phones measured: what off-policy estimates are made from."""

from __future__ import annotations

from typing import Final, NamedTuple

from sqlalchemy import text
from sqlmodel import Session

MOST: Final = 20_000

_USES: Final = text(
    """
    WITH used AS (
        SELECT record_id, device_class, app, model, plan, arm, side, propensity, latency_p50_us
        FROM observation
        WHERE release = :release AND kind = 'window' AND set_aside IS NULL AND coalesce(workload, 'burst') = 'burst'
          AND run_count > 0 AND latency_p50_us > 0 AND propensity > 0 AND coalesce(fallbacks, 0) = 0
        ORDER BY record_id DESC LIMIT :most
    ), sides AS (
        SELECT device_class, app, model, plan, arm, side, max(propensity) AS propensity
        FROM used GROUP BY device_class, app, model, plan, arm, side
    ), chance AS (
        SELECT device_class, app, model, plan, arm, least(1, sum(propensity)) AS propensity
        FROM sides GROUP BY device_class, app, model, plan, arm
    )
    SELECT u.device_class, u.app, u.model, u.arm, c.propensity, u.latency_p50_us / 1000.0 AS latency_ms
    FROM used u JOIN chance c ON (c.device_class, c.app, c.model, c.arm) = (u.device_class, u.app, u.model, u.arm)
         AND c.plan IS NOT DISTINCT FROM u.plan
    ORDER BY u.record_id DESC
    """
)


class Use(NamedTuple):
    """One measured window of the arm that a split started with, and the chance that the arm had.

    In a rollout the candidate and the control may both lead with it, and some units explore it: a phone tells the chance
    of its own split, and those of all sides that were seen add up.
    """

    device_class: str
    app: str
    model: str
    arm: str
    propensity: float
    latency_ms: float


def of_release(session: Session, release: int) -> list[Use]:
    """The newest uses under a release."""
    return [Use(*row) for row in session.connection().execute(_USES, {"release": release, "most": MOST})]
