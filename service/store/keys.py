"""API keys as rows."""

from __future__ import annotations

from datetime import datetime

from sqlmodel import Session, col, func, select

from service.store.tables import ApiKeyRow


def add(session: Session, row: ApiKeyRow) -> None:
    """Store a key, whose name no other one has or had: the audit log knows keys by name."""
    session.add(row)
    session.flush()


def by_name(session: Session, name: str) -> ApiKeyRow | None:
    """The key of this name, revoked or not."""
    return session.get(ApiKeyRow, name)


def by_secret(session: Session, secret_sha256: str) -> ApiKeyRow | None:
    """The key with this secret that was not revoked."""
    found = select(ApiKeyRow).where(ApiKeyRow.secret_sha256 == secret_sha256, col(ApiKeyRow.revoked_at).is_(None))
    return session.exec(found).first()


def all_keys(session: Session) -> list[ApiKeyRow]:
    """Every key, revoked ones too, by name."""
    return list(session.exec(select(ApiKeyRow).order_by(col(ApiKeyRow.name))))


def revoke(session: Session, name: str, now: datetime) -> bool:
    """Shut a key for good; False where there is none of that name, or it was revoked before."""
    row = session.get(ApiKeyRow, name)
    if row is None or row.revoked_at is not None:
        return False
    row.revoked_at = now
    session.add(row)
    return True


def managing(session: Session) -> int:
    """How many open keys manage."""
    found = select(func.count()).where(col(ApiKeyRow.revoked_at).is_(None), col(ApiKeyRow.role).is_not(None))
    return session.exec(found).one()
