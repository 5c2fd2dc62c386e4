"""Facts and tallies of classes: written with the report, the same before and after folding."""

from __future__ import annotations

from builders import make_report
from flask.testing import FlaskClient
from sqlalchemy import Engine
from sqlmodel import Session

from policies.report import report_id
from service.store import class_facts
from service.store.class_facts import Tally


def put(client: FlaskClient, body: bytes) -> int:
    return client.put(f"/v1/reports/{report_id(body)}", data=body).status_code


def test_a_report_is_counted_once_however_often_it_comes(client: FlaskClient, engine: Engine) -> None:
    bodies = [
        make_report(),
        make_report(device={"build_fingerprint": "google/stallion/stallion:16/BP4A.2/2:user/release-keys"}),
        make_report(),
    ]
    assert [put(client, body) for body in bodies] == [201, 201, 200]
    with Session(engine) as session:
        assert class_facts.tallies(session)["population"] == [Tally("retail", 1, 2)]


def test_folding_changes_how_many_rows_there_are_and_nothing_else(client: FlaskClient, engine: Engine) -> None:
    for model in ("One", "Two", "Three"):
        put(client, make_report(device={"model": model}))
    with Session(engine) as session, session.begin():
        before = class_facts.tallies(session)
        values = sum(len(tallies) for tallies in before.values())
        assert class_facts.fold(session) == values
        assert class_facts.tallies(session) == before
    assert before["population"] == [Tally("retail", 3, 3)]
