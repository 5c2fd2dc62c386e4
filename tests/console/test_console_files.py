"""Models from the console: a file comes in and says what it is; a form makes a variant of it, and somebody else approves."""

from __future__ import annotations

import hashlib
import io
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from console_builders import Stage, report
from flask import Flask
from flask.testing import FlaskClient
from markup import runs
from signing_in import act, signed_in
from sqlalchemy import Engine
from sqlmodel import Session
from werkzeug.test import TestResponse

from policies.revision import Kind, State
from service.app import create_app
from service.identity.actor import Role
from service.settings import Settings
from service.store import revisions
from service.store.tables import RevisionRow
from tests.console.test_console_pages import HOSTILE

WAKE_WORD = Path("tests/vectors/hey_jarvis.tflite").read_bytes()
SHA256 = hashlib.sha256(WAKE_WORD).hexdigest()
EDIT = "/console/models/camera/wake-word/edit"
STATED = {
    "task": "speech-recognition",
    "family": "wake",
    "latency_target_ms": "20",
    "max_accuracy_drop": "1.5",
    "max_memory_mb": "64",
}
ONE = {"variants.0.id": "hey", "variants.0.sha256": SHA256, "variants.0.accuracy_drop": "0.7"}


@pytest.fixture
def olga(app: Flask, stage: Stage) -> FlaskClient:
    signed_in(app, "paul", Role.APPROVER)
    return signed_in(app, "olga", Role.OPERATOR)


def upload(browser: FlaskClient, payload: bytes = WAKE_WORD, name: str = "hey_jarvis.tflite") -> TestResponse:
    return act(browser, "/console/files", file=(io.BytesIO(payload), name))


def newest(engine: Engine) -> RevisionRow | None:
    with Session(engine) as session:
        return revisions.newest(session, Kind.MODEL, "camera/wake-word")


def test_an_uploaded_file_says_what_is_in_it_and_what_accelerators_would_take(olga: FlaskClient, stage: Stage) -> None:
    stage.add_report(report())
    answer = upload(olga)
    assert answer.headers["Location"] == f"/console/files/{SHA256}?name=hey_jarvis"
    page = unescape(olga.get(answer.headers["Location"]).text)
    for told in ("hey_jarvis.tflite is kept.", "What reading it says", "CONV_2D", "google-edgetpu", "google Pixel 8"):
        assert told in page
    assert SHA256[:16] in olga.get("/console/files?q=tflite").text
    assert SHA256 in olga.get("/console/files?format=csv").text
    assert "was here already" in olga.get(upload(olga).headers["Location"]).text


@pytest.mark.parametrize(
    ("payload", "name", "told"),
    [
        (WAKE_WORD[:2000], "cut.tflite", "cut.tflite: "),
        (b"", "nothing.tflite", "nothing.tflite: the file is empty; it was not kept"),
        (b"", "", "choose a file first"),
    ],
)
def test_what_is_wrong_with_a_file_stands_beside_its_field(
    olga: FlaskClient, payload: bytes, name: str, told: str
) -> None:
    answer = upload(olga, payload, name)
    assert answer.status_code == 422
    assert re.search(rf'id="file-error">{re.escape(told)}', unescape(answer.text))
    assert "No file is kept yet" in olga.get("/console/files").text


def test_a_file_over_the_limit_is_refused_before_it_is_read(settings: Settings, engine: Engine) -> None:
    small = create_app(replace(settings, most_artifact_bytes=1_000), engine)
    answer = upload(signed_in(small, "olga", Role.OPERATOR), WAKE_WORD + b"\0" * 64 * 1024)
    assert answer.status_code == 413
    assert "over 1,000 bytes" in answer.text


def test_where_no_files_are_kept_the_page_says_so(settings: Settings, engine: Engine) -> None:
    bare = signed_in(create_app(replace(settings, artifacts=None), engine), "olga", Role.OPERATOR)
    assert "keeps no files" in bare.get("/console/files").text
    assert upload(bare).status_code == 409


def test_a_file_becomes_a_variant_of_a_model_that_somebody_else_approves(
    olga: FlaskClient, app: Flask, engine: Engine
) -> None:
    upload(olga)
    where = olga.get(f"/console/models/new?app=camera&model=wake-word&file={SHA256}&name=hey_jarvis")
    page = unescape(olga.get(where.headers["Location"]).text)
    assert 'name="variants.0.id" value="hey_jarvis"' in page
    assert "tflite · int8, as the file says" in page
    answer = act(olga, EDIT, act="submit", note="the wake word", **STATED, **ONE)
    row = newest(engine)
    assert row is not None
    assert answer.headers["Location"] == f"/console/revisions/{row.number}"
    variant = row.content["variants"][0]
    assert row.content["max_memory_mb"] == 64
    assert (row.state, row.content["latency_target_ms"], row.content["max_accuracy_drop"]) == (
        State.IN_REVIEW,
        20,
        0.015,
    )
    assert (variant["precision"], variant["size_bytes"], variant["accuracy_drop"]) == ("int8", len(WAKE_WORD), 0.007)
    assert variant["graph"]["nodes"]
    assert act(signed_in(app, "paul", Role.APPROVER), f"/console/revisions/{row.number}/approve").status_code == 303
    assert "as the variant hey" in olga.get(f"/console/files/{SHA256}").text
    assert f"/console/files/{SHA256}" in olga.get("/console/models/camera/wake-word").text


def test_every_fault_of_a_model_stands_beside_its_field_and_what_was_typed_is_kept(
    olga: FlaskClient, engine: Engine
) -> None:
    upload(olga)
    wrong = STATED | ONE | {"latency_target_ms": "soon", "variants.0.accuracy_drop": "300", "task": ""}
    wrong["variants.0.shape_buckets"] = "9" * 5_000
    answer = act(olga, EDIT, act="save", note="n", **wrong)
    assert answer.status_code == 422
    page = unescape(answer.text)
    for field in ("latency_target_ms", "variants.0.accuracy_drop", "task"):
        assert f'id="{field}-error"' in page
    assert 'value="soon"' in page
    assert newest(engine) is None


def test_an_edit_keeps_what_no_form_holds_and_the_second_of_two_overwrites_nothing(
    olga: FlaskClient, app: Flask, engine: Engine
) -> None:
    upload(olga)
    act(olga, EDIT, act="save", note="first", **STATED, **ONE)
    first = newest(engine)
    assert first is not None
    edited = STATED | ONE | {"latency_target_ms": "15", "base": first.number}
    assert act(olga, EDIT, act="save", note="faster", **edited).status_code == 303
    second = newest(engine)
    assert second is not None
    assert second.content == first.content | {"latency_target_ms": 15.0}
    answer = act(signed_in(app, "otto", Role.OPERATOR), EDIT, act="save", note="mine", **edited)
    assert answer.status_code == 409
    assert "Somebody else saved meanwhile" in answer.text
    assert f'name="base" value="{second.number}"' in answer.text


def test_files_are_added_and_variants_taken_out_in_the_form(olga: FlaskClient) -> None:
    upload(olga)
    upload(olga, b"vendor binary", "npu.dlc")
    other = hashlib.sha256(b"vendor binary").hexdigest()
    page = act(olga, EDIT, act="add", file=other, **STATED, **ONE).text
    assert f'name="variants.1.sha256" value="{other}"' in page
    assert 'name="variants.1.format"' in page
    kept = ONE | {"variants.1.id": "npu", "variants.1.sha256": other, "variants.0.remove": "1"}
    page = act(olga, EDIT, act="check", **STATED, **kept).text
    assert f'name="variants.0.sha256" value="{other}"' in page
    assert "variants.1." not in page
    assert act(olga, EDIT, act="add", **STATED).status_code == 422


def test_hostile_text_in_the_forms_of_files_and_models_stays_text(olga: FlaskClient) -> None:
    assert runs(upload(olga, WAKE_WORD[:2000], f"{HOSTILE}.tflite").text) == []
    upload(olga)
    for act_asked in ("check", "add", "save"):
        form = dict.fromkeys(STATED | ONE, HOSTILE) | {"variants.0.sha256": SHA256, "note": HOSTILE}
        assert runs(act(olga, EDIT, act=act_asked, file=SHA256, **form).text) == []
    assert runs(olga.get(f"/console/files/{SHA256}?name={HOSTILE}").text) == []
