"""R-D4: the worker makes the golden reference that an operator did not state, and a person lets it pass."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tflite
from builders import make_model_json
from flask.testing import FlaskClient
from operating import TOKEN, Operator
from sqlalchemy import Engine
from sqlmodel import Session, col, select
from tflite_builder import one_operation

from policies.revision import Kind, State
from service.artifacts.store import open_store
from service.jobs.golden import make_references
from service.jobs.run import figures_of
from service.settings import Settings
from service.store.tables import AuditRow, RevisionRow

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ABSOLUTE = one_operation(tflite.BuiltinOperator.ABS)
INT8 = (Path(__file__).parents[1] / "vectors" / "hey_jarvis.tflite").read_bytes()
UNKNOWN = one_operation(tflite.BuiltinOperator.CUSTOM, "Landmarks")
MODEL = "/v1/models/camera/segmentation"


@pytest.fixture
def run(engine: Engine, settings: Settings) -> Any:
    return lambda: figures_of(make_references(engine, open_store(str(settings.artifacts)), NOW))


@pytest.fixture
def declared(client: FlaskClient, operator: Operator) -> Any:
    """Upload a file and declare a model with it as its only variant."""

    def declare(payload: bytes, **changes: Any) -> None:
        sha256 = hashlib.sha256(payload).hexdigest()
        sent = client.put(f"/v1/artifacts/{sha256}", data=payload, headers={"Authorization": f"Bearer {TOKEN}"})
        assert sent.status_code == 201
        model = make_model_json(variants=[{"id": "seg-fp32", "sha256": sha256}], **changes)
        assert operator.send("PUT", MODEL, model).status_code == 200

    return declare


def revisions(engine: Engine) -> list[RevisionRow]:
    with Session(engine, expire_on_commit=False) as session:
        found = select(RevisionRow).where(RevisionRow.kind == Kind.MODEL).order_by(col(RevisionRow.number))
        return list(session.exec(found))


def test_what_the_float_file_makes_of_noise_waits_for_a_review(
    run: Any, declared: Any, engine: Engine, client: FlaskClient
) -> None:
    declared(ABSOLUTE)
    assert run() == {"made": 1, "failed": 0}
    stated, proposed = revisions(engine)
    assert (proposed.state, proposed.author, proposed.base) == (State.IN_REVIEW, "reference", stated.number)
    golden = proposed.content["golden"]
    assert proposed.content == {**stated.content, "golden": golden}
    files = [
        client.get(f"/v1/artifacts/{golden[side]}", buffered=True).data for side in ("input_sha256", "output_sha256")
    ]
    kept = [np.frombuffer(file, "<f4") for file in files]
    assert kept[0].shape == (3,)
    assert kept[0].tolist() == kept[1].tolist()


def test_it_is_proposed_once_whatever_the_reviewer_says(
    run: Any, declared: Any, engine: Engine, operator: Operator
) -> None:
    declared(ABSOLUTE)
    run()
    number = revisions(engine)[-1].number
    assert operator.send("POST", f"/v1/revisions/{number}/reject", {"note": "real inputs follow"}).status_code == 200
    assert run() == {"made": 0, "failed": 0}
    assert [row.state for row in revisions(engine)] == [State.APPROVED, State.REJECTED]


@pytest.mark.parametrize("payload", [UNKNOWN, INT8], ids=["cannot-run", "no-float"])
def test_a_model_without_a_float_file_that_runs_is_tried_once_and_the_audit_log_says_why(
    payload: bytes, run: Any, declared: Any, engine: Engine
) -> None:
    declared(payload)
    assert [run(), run()] == [{"made": 0, "failed": 1}, {"made": 0, "failed": 0}]
    with Session(engine) as session:
        (row,) = session.exec(select(AuditRow).where(AuditRow.action == "golden-failed"))
    assert row.subject == "model:camera/segmentation"
    assert "seg-fp32 cannot be run here" in row.detail or "none of the files is a float" in row.detail


def test_other_files_are_tried_anew(run: Any, declared: Any) -> None:
    declared(UNKNOWN)
    run()
    declared(ABSOLUTE)
    assert run() == {"made": 1, "failed": 0}


def test_a_reference_that_somebody_stated_stays(run: Any, declared: Any) -> None:
    declared(ABSOLUTE, golden={"input_sha256": "a" * 64, "tolerance": 0.1})
    assert run() == {"made": 0, "failed": 0}


def test_a_model_whose_files_lie_elsewhere_is_left_alone(run: Any, operator: Operator) -> None:
    assert operator.send("PUT", MODEL, make_model_json()).status_code == 200
    assert run() == {"made": 0, "failed": 0}
