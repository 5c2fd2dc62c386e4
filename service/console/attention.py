"""What needs attention first: findings by what they do to an app, the gravest kind first, each kind once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import groupby
from typing import Any, Final

from sqlalchemy import Float, Row, func, select
from sqlmodel import Session

from service.console.own_findings import seen_findings
from service.store.tables import metadata

SHOWN: Final = 4
"""Of one kind: the gravest is told, the others are named."""
_FINDING: Final = metadata.tables["finding"]


class Harm(IntEnum):
    """What a kind of finding does to an app, the gravest first."""

    STOPS = 1
    WRONG = 2
    LOST = 3
    SLOW = 4


HARM: Final = {
    "crash": Harm.STOPS,
    "hang": Harm.STOPS,
    "model-crash": Harm.STOPS,
    "model-hang": Harm.STOPS,
    "wrong-output": Harm.WRONG,
    "model-wrong-output": Harm.WRONG,
    "wrong-operation": Harm.WRONG,
    "accuracy-outlier": Harm.WRONG,
    "rollout-breach": Harm.LOST,
    "accelerator-vanished": Harm.LOST,
    "driver-switched-off": Harm.LOST,
    "wrong-executor": Harm.LOST,
    "does-not-run": Harm.LOST,
}
"""Of the kinds that do more than take time."""
HARMS: Final = {
    Harm.STOPS: "stops the app",
    Harm.WRONG: "wrong results",
    Harm.LOST: "no accelerator",
    Harm.SLOW: "slower",
}


@dataclass(frozen=True, slots=True)
class Kind:
    """The findings of one kind. `total` of them are present; `shown` are those of the most uses."""

    name: str
    harm: Harm
    total: int
    shown: Sequence[Row[Any]]


def attention(session: Session) -> list[Kind]:
    """What the newest look saw: by harm, then by the uses that the gravest of a kind touches. One query."""
    told, name = _FINDING.c.content, _FINDING.c.name
    uses = told["uses"].astext.cast(Float).label("uses")
    order = (uses.desc().nulls_last(), _FINDING.c.windows.desc(), _FINDING.c.id)
    ranked = select(
        *(_FINDING.c[column] for column in ("id", "name", "soc", "windows")),
        uses,
        *(told[part].label(part) for part in ("classes", "arms", "p_value")),
        told["detail"].astext.label("detail"),
        func.count().over(partition_by=name).label("total"),
        func.row_number().over(partition_by=name, order_by=order).label("place"),
    ).where(_FINDING.c.present, seen_findings()).subquery()  # fmt: skip
    rows = session.connection().execute(
        select(ranked).where(ranked.c.place <= SHOWN).order_by(ranked.c.name, ranked.c.place)
    )
    kinds = [_kind(name, list(found)) for name, found in groupby(rows, lambda row: str(row.name))]
    return sorted(kinds, key=lambda kind: (kind.harm, -(kind.shown[0].uses or 0), -kind.shown[0].windows))


def _kind(name: str, rows: Sequence[Row[Any]]) -> Kind:
    return Kind(name, HARM.get(name, Harm.SLOW), rows[0].total, rows)
