"""Who may call what. One table, everything denied by default: an endpoint that is not in it answers nobody."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from policies.errors import NotAllowed
from service.identity.actor import Actor, Role


class Scope(StrEnum):
    """What a key opens."""

    LOOKUP = "lookup"
    TELEMETRY = "telemetry"
    MANAGE = "manage"


class Reach(StrEnum):
    """What an endpoint shows or changes of apps, and so what is left of it for who is bound to some."""

    FLEET = "fleet"
    """Nothing of any app: it is the same for everybody with the role."""
    NAMED = "named"
    """One app, which its address names as `app`."""
    OWN = "own"
    """Of several: its view leaves out, or refuses, what is of others."""
    EVERY = "every"
    """All at once: nothing is left of it."""


@dataclass(frozen=True, slots=True)
class Access:
    """What an endpoint asks for.

    Neither scope nor role: nothing. A scope: a key, and with a role one that has it. A role alone: a person who is signed
    in to the console and has it. `reach` holds for who acts, a key that manages or a person. `reading`: asks for nobody
    where the console is open.
    """

    scope: Scope | None = None
    role: Role | None = None
    reach: Reach = Reach.EVERY
    reading: bool = False


OPEN: Final = Access()
LOOKUP: Final = Access(Scope.LOOKUP)
TELEMETRY: Final = Access(Scope.TELEMETRY)
VIEW: Final = Access(Scope.MANAGE, Role.VIEWER, Reach.OWN)
VIEW_APP: Final = Access(Scope.MANAGE, Role.VIEWER, Reach.NAMED)
EDIT: Final = Access(Scope.MANAGE, Role.OPERATOR, Reach.OWN)
EDIT_APP: Final = Access(Scope.MANAGE, Role.OPERATOR, Reach.NAMED)
APPROVE: Final = Access(Scope.MANAGE, Role.APPROVER, Reach.OWN)
VIEW_ALL: Final = Access(Scope.MANAGE, Role.VIEWER)
RELEASE: Final = Access(Scope.MANAGE, Role.APPROVER)

READS: Final = Access(role=Role.VIEWER, reach=Reach.OWN, reading=True)
"""A page of the console that changes nothing."""
READS_FLEET: Final = Access(role=Role.VIEWER, reach=Reach.FLEET, reading=True)
READS_APP: Final = Access(role=Role.VIEWER, reach=Reach.NAMED, reading=True)
SIGNED_IN: Final = Access(role=Role.VIEWER, reach=Reach.FLEET)
OPERATES: Final = Access(role=Role.OPERATOR, reach=Reach.OWN)
OPERATES_APP: Final = Access(role=Role.OPERATOR, reach=Reach.NAMED)
RUNS: Final = Access(role=Role.OPERATOR)
APPROVES: Final = Access(role=Role.APPROVER, reach=Reach.OWN)
RELEASES: Final = Access(role=Role.APPROVER)
ADMINISTERS: Final = Access(role=Role.ADMIN)
CONFIGURES: Final = Access(role=Role.ADMIN, reach=Reach.FLEET)

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
    "artifacts.list_artifacts": VIEW,
    "artifacts.get_facts": VIEW,
    "artifacts.put_artifact": EDIT,
    "exports.device_targeting_configuration": VIEW_APP,
    "ofrep.all_flags": LOOKUP,
    "ofrep.flag": LOOKUP,
    "policies.get_policy": VIEW_APP,
    "policies.list_policies": VIEW,
    "policies.put_policy": EDIT_APP,
    "policies.get_model": VIEW_APP,
    "policies.put_model": EDIT_APP,
    "policies.get_flags": VIEW_APP,
    "policies.put_flags": EDIT_APP,
    "revisions.list_revisions": VIEW,
    "revisions.get_revision": VIEW,
    "revisions.post_revision": EDIT,
    "revisions.step": EDIT,
    "releases.list_releases": VIEW,
    "releases.get_release": VIEW_ALL,
    "releases.post_release": APPROVE,
    "releases.roll_back": RELEASE,
    "simulations.post_simulation": VIEW,
    "simulations.get_simulation": VIEW,
    "quarantines.list_quarantines": VIEW,
    "quarantines.post_quarantine": EDIT,
    "quarantines.end": RELEASE,
    "quarantines.kill": APPROVE,
    "rollouts.post_rollout": RELEASE,
    "rollouts.list_rollouts": VIEW_ALL,
    "rollouts.get_rollout": VIEW_ALL,
    "rollouts.act": RELEASE,
    "audit.list_audit": VIEW_ALL,
    "findings.list_findings": VIEW_ALL,
    "findings.get_finding": VIEW_ALL,
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
    "console.set_apps": ADMINISTERS,
    "console.disable_user": ADMINISTERS,
    "console.enable_user": ADMINISTERS,
    "console.end_sessions": ADMINISTERS,
    "console.settings": CONFIGURES,
    "console.missing": READS_FLEET,
    "console.fleet": READS,
    "console.classes": READS_FLEET,
    "console.device_class": READS,
    "console.class_changes": READS_FLEET,
    "console.models": READS,
    "console.model": READS_APP,
    "console.new_model": OPERATES,
    "console.edit_model": OPERATES_APP,
    "console.state_model": OPERATES_APP,
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
    "console.start_rollout": RELEASES,
    "console.steer_rollout": RELEASES,
    "console.publish": APPROVES,
    "console.roll_back": RELEASES,
    "console.run_job": RUNS,
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
    "console.own_simulation": SIGNED_IN,
    "console.reviews": READS,
    "console.policies": READS,
    "console.new_policy": OPERATES,
    "console.policy": READS_APP,
    "console.edit_policy": OPERATES_APP,
    "console.policy_changes": READS_APP,
    "console.policy_file": READS_APP,
    "console.flags": READS,
    "console.new_flags": OPERATES,
    "console.app_flags": READS_APP,
    "console.edit_flags": OPERATES_APP,
    "console.flags_changes": READS_APP,
    "console.flags_file": READS_APP,
    "console.rollouts": READS,
    "console.rollout": READS,
    "console.releases": READS,
    "console.release": READS,
    "console.telemetry": READS,
    "console.jobs": READS_FLEET,
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


def check_reach(wanted: Access, who: Actor, app: str | None) -> None:
    """Raise NotAllowed where the actor is bound to apps and this goes beyond. `app`: the one that the address names."""
    if who.apps is None:
        return
    if wanted.reach is Reach.EVERY:
        raise NotAllowed(f"this concerns every app, and {who.name} has {spoken(who.apps)} only")
    if wanted.reach is Reach.NAMED and not who.touches(app):
        raise other_app(who)


def other_app(who: Actor) -> NotAllowed:
    """What somebody is told who asks for an app that is not theirs, whether it is there or not."""
    return NotAllowed(f"{who.name} has {spoken(who.apps or ())} only", field="app")


def spoken(apps: Iterable[str]) -> str:
    """Apps as a sentence names them: `the app 'camera'`."""
    named = ", ".join(repr(app) for app in sorted(apps))
    return f"the app{'s' if ',' in named else ''} {named}"
