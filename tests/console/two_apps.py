"""A fleet of two apps, of which one is somebody else's: whatever is its own says `vault` or `ledger`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from console_builders import NOW, Stage, finding, model_spec
from sqlmodel import Session

from policies.quarantine import parse_quarantine
from policies.revision import Kind
from policies.rollouts.rollout import Act, RolloutPlan
from service.identity.actor import GUARD, MANAGE_TOKEN
from service.releasing.publishing import publish
from service.releasing.quarantines import put_in_force
from service.releasing.reviewing import comment
from service.releasing.revisions import Proposal, propose
from service.releasing.rollouts import start, steer
from service.store import revisions, rollouts
from service.store.findings import finding_id
from service.store.tables import ArtifactRow

OWN: Final = "camera"
THEIRS: Final = "vault"
SECRET: Final = ("vault", "ledger")
THEIR_FILE: Final = "c" * 64
THEIR_FINDING: Final = finding("crash", detail="the ledger fails") | {"quarantine": {"model": "vault/ledger"}}
BREACH: Final = finding("rollout-breach", "*", "over the limit on model vault.ledger") | {"arms": ["*.*.*"]}
RANKING: Final = {
    "ranked": [["int8.tflite.nnapi.google-edgetpu", 4.25, 0.1, 1234], ["int8.tflite.cpu", 11.5, 0.2, 56]],
    "shares": [["int8.tflite.nnapi.google-edgetpu", 10_000, False]],
    "excluded": {},
}  # fmt: skip


@dataclass(frozen=True)
class Filled:
    """Numbers of what is theirs and of what is shared, and names for the arguments of routes."""

    own: dict[str, list[str]]
    theirs: dict[str, list[str]]
    device_class: str


def held(app: str | None, name: str) -> Any:
    deny = {"id": name, "arms": ["fp16.*"], "reason": f"{name} hangs", "until": "2099-01-01"}
    return parse_quarantine({"app": app, "deny": deny, "evidence": [f"{name}: 3 of 4"], "owner": "anna"})


def fill(stage: Stage) -> Filled:
    """One of everything for both apps: released, rolled out, quarantined, found, learned, measured, said."""
    report_id, facts = stage.fill()
    stage.add_model(their_model())
    with Session(stage.engine) as session, session.begin():
        for app in (OWN, THEIRS):
            flag = {"variants": {"on": True, "off": False}, "default_variant": "off"}
            flags = {"schema": 1, "app": app, "flags": {f"{app}-new": flag}}
            propose(session, Proposal(Kind.FLAGS, app, flags, f"flags of {app}"), MANAGE_TOKEN, NOW)
        comment(session, _number(session, f"{THEIRS}/ledger"), "the ledger is slow", "anna", NOW)
        session.add(ArtifactRow(sha256=THEIR_FILE, size_bytes=1, uploaded_by="anna", uploaded_at=NOW))
    stage.publish("both apps")
    for app, name in ((OWN, "own"), (THEIRS, "vault-hang"), (None, "all-apps")):
        put_in_force(stage.engine, held(app, name), f"{name} hangs", MANAGE_TOKEN, NOW)
    by_app = {OWN: {"mobilenet": {"burst": RANKING}}, THEIRS: {"ledger": {"burst": RANKING}}}
    gate = {"passes": False, "reasons": ["vault/ledger gets worse"], "worse": []}
    stage.add_learning_run({facts.driver_stack: by_app}, [finding(), THEIR_FINDING, BREACH], gate=gate)
    stage.measure(report_id)
    stage.measure(report_id, app=THEIRS, model="ledger")
    stage.set_aside(report_id, facts.device_class, app=THEIRS, model="ledger", set_aside_payload=b'{"app": "vault"}')
    stage.run_job("golden", ["vault/ledger: put up for review"], {"made": 1})
    publish(stage.engine, "p90 is over the limit on model vault.ledger", NOW, GUARD.name)
    _their_rollouts_and_ours(stage)
    return replace(_named(stage), device_class=facts.device_class)


def _their_rollouts_and_ours(stage: Stage) -> None:
    _roll_out(stage, "of the vault", their_model(latency_target_ms=20.0))
    _roll_out(
        stage, "the vault, and ours", their_model(latency_target_ms=10.0), model_spec() | {"latency_target_ms": 10.0}
    )
    _roll_out(stage, "ours alone", model_spec() | {"latency_target_ms": 12.0})


def their_model(**changes: Any) -> dict[str, Any]:
    variants = [{"id": "ledger-int8", "precision": "int8", "format": "tflite", "sha256": THEIR_FILE, "size_bytes": 9}]
    return model_spec(THEIRS, "ledger") | {"variants": variants} | changes


def _roll_out(stage: Stage, note: str, *models: dict[str, Any]) -> None:
    for model in models:
        stage.add_model(model)
    number = start(stage.engine, RolloutPlan(), note, "anna", NOW).number
    assert number is not None
    about = f"{models[0]['app']}.{models[0]['name']}"
    with Session(stage.engine) as session, session.begin():
        row = rollouts.rollout(session, number)
        said = {
            "at": NOW.isoformat(),
            "what": "rollout-advanced",
            "by": GUARD.name,
            "because": f"fine on model {about}",
        }
        row.timeline = [*row.timeline, said]
        row.judgement = {
            "act": None, "because": f"it waits on model {about}", "candidate_windows": 7, "readings": [],
            "at": NOW.isoformat(),
        }  # fmt: skip
        session.add(row)
    steer(stage.engine, number, Act.ABORT, f"enough of {about}", "anna", NOW)


def _number(session: Session, subject: str) -> int:
    row = revisions.newest(session, Kind.MODEL, subject)
    assert row is not None
    assert row.number is not None
    return row.number


def _named(stage: Stage) -> Filled:
    with Session(stage.engine) as session:
        rows = revisions.page(session, None, None, None, None)
        of = {app: [str(row.number) for row in rows if row.app == app] for app in (OWN, THEIRS)}
    own = {
        "app": [OWN], "model": ["mobilenet"], "sha256": ["a" * 64], "finding": [finding_id(finding())],
        "quarantine": ["own"], "revision": of[OWN], "rollout": ["2", "3"],
    }  # fmt: skip
    theirs = {
        "app": [THEIRS], "model": ["ledger"], "sha256": [THEIR_FILE],
        "finding": [finding_id(THEIR_FINDING), finding_id(BREACH)], "quarantine": ["vault-hang"],
        "revision": of[THEIRS], "rollout": ["1"],
    }  # fmt: skip
    return Filled(own, theirs, "")
