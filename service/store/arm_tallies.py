"""What the whole fleet has measured of each arm of each model: a few thousand rows, however large the fleet is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import Row, func, select, text, tuple_
from sqlmodel import Session

from service.store.tables import metadata

_TALLY: Final = metadata.tables["arm_tally"]
_SUMS: Final = (
    "windows", "delegated_windows", "delegated_share_sum", "failed", "timed_out", "golden_checked", "golden_failed",
    "attempts", "crashed",
)  # fmt: skip
_REFRESH: Final = text(
    f"""
    INSERT INTO arm_tally (app, model, arm, device_classes, {", ".join(_SUMS)})
    SELECT app, model, arm, count(DISTINCT device_class), {", ".join(f"sum({name})" for name in _SUMS)}
    FROM observation_rollup GROUP BY app, model, arm
    """  # noqa: S608 -- constants of this file
)


def refresh(session: Session) -> None:
    """Add up all rollups anew. The caller holds the lock of rollups."""
    connection = session.connection()
    connection.execute(text("DELETE FROM arm_tally"))
    connection.execute(_REFRESH)


def of_models(session: Session, models: Iterable[tuple[str, str]]) -> Sequence[Row[Any]]:
    """The rows of these (app, model), the most windows first."""
    asked = select(_TALLY).where(tuple_(_TALLY.c.app, _TALLY.c.model).in_(list(models)))
    return session.connection().execute(asked.order_by(_TALLY.c.windows.desc(), _TALLY.c.arm)).all()


class Starts(NamedTuple):
    """Attempt marks over all days that are rolled up, and how many of them no window followed: crashes."""

    attempts: int
    crashed: int


def starts(session: Session) -> Starts:
    """Those of the whole fleet."""
    counted = (func.coalesce(func.sum(_TALLY.c[name]), 0) for name in Starts._fields)
    attempts, crashed = session.connection().execute(select(*counted)).one()
    return Starts(int(attempts), int(crashed))
