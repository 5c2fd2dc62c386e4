"""The console's pages in the order of its navigation: what the fleet is, what changes it, how it fares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Place:
    """A link of the navigation. `within`: the endpoints of pages that stand below it."""

    endpoint: str
    text: str
    within: frozenset[str] = frozenset()

    def marked(self, endpoint: str | None) -> str | None:
        """The `aria-current` of the link on the page of that endpoint."""
        if endpoint == f"console.{self.endpoint}":
            return "page"
        return "true" if endpoint in {f"console.{name}" for name in self.within} else None


@dataclass(frozen=True, slots=True)
class Group:
    """Links that belong together; its name is read out, not drawn."""

    name: str
    places: tuple[Place, ...]


NAVIGATION: Final = (
    Group(
        "The fleet",
        (
            Place("fleet", "Fleet"),
            Place("classes", "Classes", frozenset({"device_class", "class_changes"})),
            Place(
                "models", "Models", frozenset({"model", "edit_model", "state_model", "files", "upload_file", "file"})
            ),
            Place("findings", "Findings", frozenset({"finding"})),
            Place("explain", "Explain", frozenset({"explain_pasted"})),
        ),
    ),
    Group(
        "Changes",
        (
            Place("policies", "Policies", frozenset({"policy", "edit_policy", "policy_changes"})),
            Place("flags", "Flags", frozenset({"app_flags", "edit_flags", "flags_changes"})),
            Place("reviews", "Reviews"),
            Place("recommendations", "Learned", frozenset({"recommendation"})),
            Place("revisions", "Revisions", frozenset({"revision"})),
            Place("quarantines", "Quarantines", frozenset({"new_quarantine", "preview_quarantine", "kill_switch"})),
            Place("rollouts", "Rollouts", frozenset({"rollout", "start_rollout"})),
            Place("releases", "Releases", frozenset({"release"})),
        ),
    ),
    Group(
        "Operation",
        (
            Place("telemetry", "Telemetry"),
            Place("jobs", "Jobs", frozenset({"job_run"})),
            Place("audit", "Audit"),
        ),
    ),
    Group(
        "Installation",
        (
            Place("keys", "Keys", frozenset({"create_key"})),
            Place("users", "Users", frozenset({"user", "create_user"})),
            Place("settings", "Settings"),
        ),
    ),
)
