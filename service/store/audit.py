"""The audit log: one row for every act of management, chained by hash so that a changed or missing row shows.

Row n holds sha256(hash of row n−1 ‖ canonical JSON of row n). The database refuses UPDATE, DELETE and TRUNCATE; the
chain shows what somebody with the rights of its owner did all the same. A cut-off tail shows only against a hash that
was noted elsewhere: `verify` takes one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import cast, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Session, col, select

from service.store.tables import AuditRow

FIRST: Final = "0" * 64
"""What stands before the first row."""


@dataclass(frozen=True, slots=True)
class Chain:
    """`rows` that hold together, up to `head`. `broken` is the number of the first row that does not, with `why`."""

    rows: int
    head: str
    broken: int | None = None
    why: str = ""


def append(session: Session, now: datetime, actor: str, action: str, subject: str, **detail: Any) -> None:
    """Write a row in this transaction: it is there exactly if the act is."""
    # One writer at a time: each row needs the one before. Readers are not held up.
    session.execute(text("LOCK TABLE audit IN EXCLUSIVE MODE"))
    last = session.exec(select(AuditRow).order_by(col(AuditRow.number).desc()).limit(1)).first()
    row = AuditRow(
        number=last.number + 1 if last else 1,
        at=now,
        actor=actor,
        action=action,
        subject=subject,
        detail=json.dumps(detail, sort_keys=True, separators=(",", ":")),
        previous_sha256=last.sha256 if last else FIRST,
        sha256="",
    )
    row.sha256 = digest(row)
    session.add(row)
    session.flush()


def noted(session: Session, actor: str, subject: str, **detail: Any) -> bool:
    """Whether the actor noted these details of the subject, perhaps among others."""
    found = select(AuditRow.number).where(AuditRow.actor == actor, AuditRow.subject == subject)
    return session.exec(found.where(cast(AuditRow.detail, JSONB).contains(detail)).limit(1)).first() is not None


def digest(row: AuditRow) -> str:
    """The hash that belongs to the row. `detail` is text, so that the very bytes come back."""
    fields = [row.number, row.at.astimezone(UTC).isoformat(), row.actor, row.action, row.subject, row.detail]
    return hashlib.sha256(f"{row.previous_sha256}{json.dumps(fields, separators=(',', ':'))}".encode()).hexdigest()


def verify(session: Session, noted_head: str | None = None) -> Chain:
    """Walk the chain from its first row. `noted_head`: a hash that has to stand in it."""
    statement = select(AuditRow).order_by(col(AuditRow.number)).execution_options(yield_per=1_000)
    with session.exec(statement) as rows:
        return walked(rows, noted_head)


def walked(rows: Iterable[AuditRow], noted_head: str | None = None) -> Chain:
    """The chain that these rows, in order of their numbers, make."""
    count, head, seen = 0, FIRST, noted_head in {None, FIRST}
    for row in rows:
        why = _broken(row, count + 1, head)
        if why:
            return Chain(count, head, row.number, why)
        count, head = row.number, row.sha256
        seen = seen or head == noted_head
    return Chain(count, head) if seen else Chain(count, head, count + 1, "the noted head is not in the log")


def _broken(row: AuditRow, expected: int, head: str) -> str:
    if row.number != expected:
        return f"row {expected} is missing"
    if row.previous_sha256 != head:
        return "it does not follow the row before it"
    return "" if row.sha256 == digest(row) else "it was changed after it was written"


def page(session: Session, after: int, limit: int) -> list[AuditRow]:
    """Rows from number `after` + 1 on."""
    statement = select(AuditRow).where(col(AuditRow.number) > after).order_by(col(AuditRow.number)).limit(limit)
    return list(session.exec(statement))
