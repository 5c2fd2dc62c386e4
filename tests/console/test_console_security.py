"""What strangers and colleagues wrote stays text on every page, and every answer says what a browser may do with it."""

from __future__ import annotations

from dataclasses import replace

from console_builders import NOW, Stage, finding, model_spec, report
from flask import Flask
from flask.testing import FlaskClient
from markup import runs
from routes import pages
from signing_in import act, signed_in
from sqlalchemy import Engine
from sqlmodel import Session

from policies.revision import Kind, Step
from policies.rollouts.rollout import RolloutPlan
from service.app import create_app
from service.console.visitor import COOKIE
from service.identity.actor import Role
from service.releasing.revisions import Proposal, advance, save
from service.releasing.rollouts import start
from service.settings import Settings
from service.store.tables import ApiKeyRow, ArtifactRow, PersonRow, PersonSessionRow

HOSTILE = "</textarea></code><script>alert(1)</script>\"'><img src=x onerror=alert(2)>"


def hostile_file() -> ArtifactRow:
    """A file whose every text is hostile, as what was read from it."""
    tensor = {"name": HOSTILE, "type": HOSTILE, "shape": [1]}
    remark = {"code": HOSTILE, "weight": HOSTILE, "where": HOSTILE, "advice": HOSTILE}
    told = {
        "nodes": 1, "macs": 1, "types": {HOSTILE: 1}, "weight_bytes": {HOSTILE: 1}, "quantized_tensors": 0,
        "per_channel_tensors": 0, "dynamic_tensors": 1, "dynamic_examples": [tensor], "control_flow": [HOSTILE],
        "signatures": [HOSTILE], "description": HOSTILE, "nnapi_level": None, "inputs": [tensor], "outputs": [tensor],
        "remarks": [remark],
    }  # fmt: skip
    return ArtifactRow(
        sha256="b" * 64, size_bytes=1, format=HOSTILE, precision=HOSTILE, graph=None, facts=told, uploaded_by=HOSTILE,
        uploaded_at=NOW,
    )  # fmt: skip


def test_whatever_people_phones_and_models_call_themselves_stays_text(app: Flask, stage: Stage, engine: Engine) -> None:
    """A person's name cannot be such; should one ever be stored, it still runs nothing."""
    report_id, facts = stage.add_report(report(HOSTILE, HOSTILE, driver=HOSTILE))
    stage.add_model(model_spec(), denies=[{"id": "no-gpu", "arms": ["*.gpu"], "reason": HOSTILE}])
    stage.learn(facts, findings=[finding(HOSTILE, HOSTILE, HOSTILE) | {"evidence": [{HOSTILE: HOSTILE}]}])
    stage.publish(HOSTILE)
    stage.add_model(model_spec() | {"latency_target_ms": 25.0})
    start(engine, RolloutPlan(), HOSTILE, HOSTILE, NOW)
    stage.run_job("rollup", [HOSTILE], {HOSTILE: HOSTILE})
    stage.set_aside(report_id, facts.device_class, set_aside_payload=HOSTILE.encode(), sdk=HOSTILE, app=HOSTILE)
    admin = signed_in(app, "ada", Role.ADMIN)
    with Session(engine) as session, session.begin():
        content = {"app": "camera", "denies": [{"id": "x", "arms": ["*.gpu"], "reason": HOSTILE}]}
        row = save(session, Proposal(Kind.POLICY, "camera", content, HOSTILE), HOSTILE, NOW, blind=True)
        advance(session, row, Step.SUBMIT, HOSTILE, NOW)
        advance(session, row, Step.REJECT, HOSTILE, NOW, HOSTILE)
        flags = {"app": "camera", "flags": {HOSTILE: {"variants": {HOSTILE: HOSTILE}, "description": HOSTILE}}}
        save(session, Proposal(Kind.FLAGS, "camera", flags, HOSTILE), HOSTILE, NOW, blind=True)
        session.add(hostile_file())
        session.add(ApiKeyRow(name=HOSTILE, secret_sha256="0", scopes=[], app=HOSTILE, created_at=NOW))
        session.add(PersonRow(name=HOSTILE, role="viewer", issuer=HOSTILE, subject=HOSTILE, created_at=NOW))
        session.flush()
        session.add(PersonSessionRow(id_sha256="0", person=HOSTILE, agent=HOSTILE, started_at=NOW, seen_at=NOW))
    names = {"device_class": facts.device_class, "earlier": facts.device_class, "app": "camera", "model": "mobilenet"}
    names["sha256"] = "b" * 64
    shown = 0
    for path in pages(app, names | {"number": "1", "name": "ada"}):
        for asked in (path, f"{path}?q={HOSTILE}&report={HOSTILE}&reason={HOSTILE}"):
            html = admin.get(asked).text
            assert runs(html) == [], asked
            shown += "&lt;script&gt;" in html
    assert admin.get(f"/console/users/{HOSTILE.replace('/', '%2F')}").status_code in {200, 404}
    assert shown >= 20
    assert "&lt;script&gt;" in admin.get(f"/console/files/{'b' * 64}").text


def test_a_form_that_is_refused_says_back_what_was_typed_as_text(app: Flask) -> None:
    admin = signed_in(app, "ada", Role.ADMIN)
    for path, field in (("/console/keys", "app"), ("/console/users", "name"), ("/console/login", "name")):
        assert runs(act(admin, path, **{field: HOSTILE}).text) == [], path


def test_every_answer_of_the_console_forbids_scripts_frames_and_guesses(app: Flask, settings: Settings) -> None:
    browser = app.test_client()
    for path in ("/console/", "/console/login", "/console/nowhere", "/console/static/console.css"):
        with browser.get(path) as answer:
            assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
            assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
            assert answer.headers["X-Frame-Options"] == "DENY"
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert "Strict-Transport-Security" not in answer.headers


def test_where_people_come_by_https_browsers_are_told_to_stay_with_it(settings: Settings, engine: Engine) -> None:
    browser: FlaskClient = create_app(replace(settings, public_url="https://nnfleet.example"), engine).test_client()
    assert "max-age=31536000" in browser.get("/console/login").headers["Strict-Transport-Security"]
    assert COOKIE not in "".join(browser.get("/console/login").headers.getlist("Set-Cookie"))
