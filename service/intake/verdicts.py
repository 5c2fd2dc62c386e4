"""What became of each record of a batch."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from service.store.tallies import NOTED


@dataclass
class Verdicts:
    """Counts of what needs no naming, names of what does. `rejected` records were not stored, all others are."""

    accepted: int = 0
    duplicate: int = 0
    set_aside: list[dict[str, Any]] = field(default_factory=list)
    rejected: list[dict[str, Any]] = field(default_factory=list)
    noted: Counter[str] = field(default_factory=Counter)

    def note(self, fault: str | None) -> None:
        """Count what is odd about a record that was stored, and no reason to set it aside."""
        if fault is not None:
            self.noted[fault] += 1

    def stored(self, record_id: bytes, reason: str | None) -> None:
        """A new record: accepted, or set aside for a reason."""
        if reason is None:
            self.accepted += 1
        else:
            self.set_aside.append({"record_id": str(UUID(bytes=record_id)), "reason": reason})

    def repeated(self, index: int, *, same: bool) -> None:
        """A record whose id is stored already, with the same bytes or with others."""
        if same:
            self.duplicate += 1
        else:
            self.reject(index, "id-conflict")

    def reject(self, index: int, reason: str, detail: str | None = None) -> None:
        """A record that is not stored; `index` is its place in the batch."""
        self.rejected.append({"index": index, "reason": reason} | ({"detail": detail} if detail else {}))

    def counted(self) -> dict[tuple[str, str], int]:
        """(verdict, reason) → records, without zeros."""
        counts = Counter({("accepted", ""): self.accepted, ("duplicate", ""): self.duplicate})
        counts.update(("set-aside", row["reason"]) for row in self.set_aside)
        counts.update(("rejected", row["reason"]) for row in self.rejected)
        counts.update({(NOTED, fault): records for fault, records in self.noted.items()})
        return dict(+counts)

    def to_json(self) -> dict[str, Any]:
        """The answer of `POST /v1/telemetry`."""
        return {
            "accepted": self.accepted,
            "duplicate": self.duplicate,
            "set_aside": self.set_aside,
            "rejected": self.rejected,
        }
