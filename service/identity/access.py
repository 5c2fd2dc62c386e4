"""Who may call what. One table, everything denied by default: an endpoint that is not in it answers nobody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from policies.errors import NotAllowed
from service.identity.actor import Role


class Scope(StrEnum):
    """What a key opens."""

    LOOKUP = "lookup"
    TELEMETRY = "telemetry"
    MANAGE = "manage"


@dataclass(frozen=True, slots=True)
class Access:
    """What an endpoint asks for.

    Neither scope nor role: nothing. A scope: a key, and with a role one that has it. A role alone: a person who is signed
    in to the console and has it. `every_app`: not for keys that are bound to one app. `reading`: asks for nobody where the
    console is open.
    """

    scope: Scope | None = None
    role: Role | None = None
    every_app: bool = False
    reading: bool = False


OPEN: Final = Access()
LOOKUP: Final = Access(Scope.LOOKUP)
TELEMETRY: Final = Access(Scope.TELEMETRY)
VIEW: Final = Access(Scope.MANAGE, Role.VIEWER)
EDIT: Final = Access(Scope.MANAGE, Role.OPERATOR)
APPROVE: Final = Access(Scope.MANAGE, Role.APPROVER)
VIEW_ALL: Final = Access(Scope.MANAGE, Role.VIEWER, every_app=True)
RELEASE: Final = Access(Scope.MANAGE, Role.APPROVER, every_app=True)

READS: Final = Access(role=Role.VIEWER, reading=True)
"""A page of the console that changes nothing."""
SIGNED_IN: Final = Access(role=Role.VIEWER)
OPERATES: Final = Access(role=Role.OPERATOR)
APPROVES: Final = Access(role=Role.APPROVER)
ADMINISTERS: Final = Access(role=Role.ADMIN)

ACCESS: Final[Mapping[str, Access]] = {
    "health.healthz": OPEN,
    "health.readyz": OPEN,
    "health.signing_keys": OPEN,
    "openapi.openapi": OPEN,
    "devices.decision": LOOKUP,
    "devices.put_report": LOOKUP,
    "telemetry.post_telemetry": TELEMETRY,
    "decide.decide": LOOKUP,
    "artifacts.get_artifact": LOOKUP,
    "artifacts.list_artifacts": VIEW_ALL,
    "artifacts.get_facts": VIEW,
    "artifacts.put_artifact": EDIT,
    "exports.device_targeting_configuration": VIEW,
    "ofrep.all_flags": LOOKUP,
    "ofrep.flag": LOOKUP,
    "policies.get_policy": VIEW,
    "policies.list_policies": VIEW_ALL,
    "policies.put_policy": EDIT,
    "policies.get_model": VIEW,
    "policies.put_model": EDIT,
    "policies.get_flags": VIEW,
    "policies.put_flags": EDIT,
    "revisions.list_revisions": VIEW_ALL,
    "revisions.get_revision": VIEW,
    "revisions.post_revision": EDIT,
    "revisions.step": EDIT,
    "releases.list_releases": VIEW,
    "releases.get_release": VIEW_ALL,
    "releases.post_release": RELEASE,
    "releases.roll_back": RELEASE,
    "simulations.post_simulation": VIEW,
    "quarantines.list_quarantines": VIEW_ALL,
    "quarantines.post_quarantine": EDIT,
    "quarantines.end": RELEASE,
    "quarantines.kill": APPROVE,
    "rollouts.post_rollout": RELEASE,
    "rollouts.list_rollouts": VIEW_ALL,
    "rollouts.get_rollout": VIEW_ALL,
    "rollouts.act": RELEASE,
    "audit.list_audit": VIEW_ALL,
    "watch.list_jobs": VIEW_ALL,
    "watch.health": VIEW_ALL,
    "console.static": OPEN,
    "console.login": OPEN,
    "console.log_in": OPEN,
    "console.log_out": OPEN,
    "console.provider": OPEN,
    "console.provider_back": OPEN,
    "console.account": SIGNED_IN,
    "console.change_password": SIGNED_IN,
    "console.end_own_sessions": SIGNED_IN,
    "console.keys": ADMINISTERS,
    "console.create_key": ADMINISTERS,
    "console.revoke_key": ADMINISTERS,
    "console.users": ADMINISTERS,
    "console.create_user": ADMINISTERS,
    "console.user": ADMINISTERS,
    "console.set_role": ADMINISTERS,
    "console.disable_user": ADMINISTERS,
    "console.enable_user": ADMINISTERS,
    "console.end_sessions": ADMINISTERS,
    "console.settings": ADMINISTERS,
    "console.missing": READS,
    "console.fleet": READS,
    "console.classes": READS,
    "console.device_class": READS,
    "console.class_changes": READS,
    "console.models": READS,
    "console.model": READS,
    "console.new_model": OPERATES,
    "console.edit_model": OPERATES,
    "console.state_model": OPERATES,
    "console.files": READS,
    "console.upload_file": OPERATES,
    "console.file": READS,
    "console.findings": READS,
    "console.finding": READS,
    "console.quarantines": READS,
    "console.new_quarantine": OPERATES,
    "console.preview_quarantine": OPERATES,
    "console.propose_quarantine": OPERATES,
    "console.end_quarantine": APPROVES,
    "console.kill_switch": APPROVES,
    "console.kill": APPROVES,
    "console.start_rollout": APPROVES,
    "console.steer_rollout": APPROVES,
    "console.publish": APPROVES,
    "console.roll_back": APPROVES,
    "console.run_job": OPERATES,
    "console.recommendations": READS,
    "console.recommendation": READS,
    "console.revisions": READS,
    "console.revision": READS,
    "console.submit": OPERATES,
    "console.withdraw": OPERATES,
    "console.approve": APPROVES,
    "console.reject": APPROVES,
    "console.comment": OPERATES,
    "console.simulate": OPERATES,
    "console.reviews": READS,
    "console.policies": READS,
    "console.new_policy": OPERATES,
    "console.policy": READS,
    "console.edit_policy": OPERATES,
    "console.policy_changes": READS,
    "console.policy_file": READS,
    "console.flags": READS,
    "console.new_flags": OPERATES,
    "console.app_flags": READS,
    "console.edit_flags": OPERATES,
    "console.flags_changes": READS,
    "console.flags_file": READS,
    "console.rollouts": READS,
    "console.rollout": READS,
    "console.releases": READS,
    "console.release": READS,
    "console.telemetry": READS,
    "console.jobs": READS,
    "console.job_run": READS,
    "console.audit": READS,
    "console.explain": READS,
    "console.explain_pasted": READS,
}
"""By Flask's name of the endpoint."""


def access_of(endpoint: str) -> Access:
    """What the endpoint asks for; raises NotAllowed where the table does not have it."""
    found = ACCESS.get(endpoint)
    if found is None:
        raise NotAllowed(f"{endpoint} is in no table of access")
    return found
