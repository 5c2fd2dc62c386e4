"""Who acts: the name that revisions and the audit log keep, and what they may do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final


class Role(IntEnum):
    """What a person or program may do to the fleet; each may do what the ones before may."""

    VIEWER = 1
    OPERATOR = 2
    APPROVER = 3
    ADMIN = 4


@dataclass(frozen=True, slots=True)
class Actor:
    """`apps`: the only ones it may see and touch, None for all, those to come too."""

    name: str
    role: Role
    apps: frozenset[str] | None = None

    def sees(self, app: str | None) -> bool:
        """Whether what belongs to an app is shown to it. None: what concerns all apps, and so its own."""
        return self.apps is None or app is None or app in self.apps

    def touches(self, app: str | None) -> bool:
        """Whether it may change what belongs to an app. None: what concerns all apps, and so those of others."""
        return self.apps is None or app in self.apps


MANAGE_TOKEN: Final = Actor("manage-token", Role.ADMIN)
"""Whoever has the token that the installation was started with."""
GUARD: Final = Actor("guard", Role.APPROVER)
"""The service itself, when it opens the next step of a rollout or stops one."""
LEARNER: Final = "learner"
"""The author of recommendations."""
REFERENCE: Final = "reference"
"""The author of golden references."""
COMMAND_LINE: Final = "command-line"
"""Whoever may open the database by themselves; the audit log says no more of them."""
RESERVED: Final = frozenset({MANAGE_TOKEN.name, GUARD.name, LEARNER, REFERENCE, COMMAND_LINE})
"""Names that no person and no key may have."""
