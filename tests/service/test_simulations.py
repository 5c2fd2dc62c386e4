"""Simulations on the stored fleet: the same as deciding every report, nothing saved, and honest about what was not seen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import EDGETPU, deny, make_model_json, make_report, make_variant, nnapi
from flask.testing import FlaskClient
from operating import TOKEN, Operator
from sqlalchemy import Engine, text
from sqlmodel import Session
from typer.testing import CliRunner

from policies.fingerprint import fingerprint
from policies.knowledge import ArmShare, RankedArm, Ranking
from policies.report import parse_report, report_id
from policies.revision import Kind
from policies.simulating.compare import comparisons
from policies.simulating.simulation_json import simulation_json
from policies.simulating.simulator import Outlook
from policies.simulating.tally import Tally
from service import clock
from service.cli.app import app as cli
from service.live import live_release
from service.releasing.release_content import pack_rankings
from service.releasing.revisions import recommend
from service.releasing.stated_content import stated_content
from service.simulating import fleet
from service.simulating.drafts import Draft, proposed
from service.simulating.simulations import Asked, SimulationRunning, Simulations

PATH = "/v1/simulations"
NO_NPU = {"schema": 1, "app": "camera", "denies": [deny("no-npu", "*.nnapi.*", cohort={"socs": ["Tensor G4"]})]}
ON_A_BUILD = {
    "schema": 1,
    "app": "camera",
    "rules": [{"id": "new-build", "when": "device.build.contains('/2:')", "use": {"ladder": ["*.gpu"]}}],
}


def phones() -> Iterator[bytes]:
    """Reports of a few classes, which differ by build and probe times, and one whose driver failed its probe."""
    for soc in ("Tensor G4", "Tensor G3"):
        for build in (1, 2, 3):
            yield make_report(
                device={"soc_model": soc, "build_fingerprint": f"google/s/s:16/B/{build}:user/release-keys"}
            )
    yield make_report(nnapi=nnapi(dict(EDGETPU) | {"probe": {"status": "crashed", "compile_ms": 3.5}}))
    yield make_report(nnapi=nnapi(dict(EDGETPU) | {"probe": {"status": "ok", "compile_ms": 7.5}}))
    yield make_report(nnapi=None, gpu=None)


@pytest.fixture
def stored(client: FlaskClient, operator: Operator) -> list[bytes]:
    """The phones, uploaded, and a release."""
    bodies = list(phones())
    for body in bodies:
        assert client.put(f"/v1/reports/{report_id(body)}", data=body).status_code == 201
    operator.publish()
    return bodies


def simulated(operator: Operator, **asked: Any) -> dict[str, Any]:
    answer = operator.send("POST", PATH, {"kind": "policy"} | asked)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.get_json()
    return found


def brute_force(client: FlaskClient, engine: Engine, kind: str, content: Any, bodies: list[bytes]) -> dict[str, Any]:
    """Every report fingerprinted and decided by itself."""
    with client.application.app_context(), engine.connect() as connection:
        live = live_release()
        assert live is not None
        session = Session(connection)
        known, _, parsed = stated_content(session, kind, content)
        changes = proposed(session, Draft(known, parsed), live, clock.now().date())
    tally = Tally()
    for body in bodies:
        facts = fingerprint(parse_report(body))
        found = tuple(one for change in changes for one in comparisons(change, facts))
        tally.add(Outlook(facts.device_class, facts.soc, facts.soc_vendor, facts.api_level, found), 0.0)
    return json.loads(json.dumps(simulation_json(tally)))  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("policy", NO_NPU),
        ("policy", ON_A_BUILD),
        ("policy", {"schema": 1, "app": "camera", "exploration_bp": 400}),
        ("policy", {"schema": 1, "app": "gallery"}),
        ("model", make_model_json(variants=[make_variant("int8", id="other")])),
        ("model", make_model_json(name="new-one")),
        (
            "quarantine",
            {"deny": deny("q", "*.gpu", until="2099-01-01"), "evidence": ["it hangs"], "owner": "someone"},
        ),
    ],
)
def test_a_simulation_is_what_deciding_every_report_tells(
    client: FlaskClient, operator: Operator, engine: Engine, stored: list[bytes], kind: str, content: Any
) -> None:
    found = simulated(operator, kind=kind, content=content)
    expected = brute_force(client, engine, kind, content, stored)
    assert {name: found[name] for name in expected} == expected
    assert not found["sampled"]
    assert found["decided"] < 2 * len(stored)


def test_a_stored_revision_is_simulated_as_its_content_is(operator: Operator, stored: list[bytes]) -> None:
    saved = operator.send("POST", "/v1/revisions", {"kind": "policy", "content": NO_NPU, "note": "n", "base": 2})
    by_number = operator.send("POST", PATH, {"revision": saved.get_json()["revision"]}).get_json()
    by_content = simulated(operator, content=NO_NPU)
    assert {**by_number, "at": ""} == {**by_content, "at": ""}
    assert by_number["changed"]["no-accelerator"]["reports"] == 4


def test_nothing_is_saved(operator: Operator, engine: Engine, stored: list[bytes]) -> None:
    def counted() -> list[int]:
        tables = ("revision", "audit", "release")
        with engine.connect() as connection:
            return [connection.execute(text(f"SELECT count(*) FROM {name}")).scalar_one() for name in tables]

    before = counted()
    simulated(operator, content=NO_NPU)
    assert counted() == before


def test_a_recommendation_is_judged_by_its_own_rankings(
    operator: Operator, engine: Engine, stored: list[bytes]
) -> None:
    stack = fingerprint(parse_report(stored[0])).driver_stack
    ranked = (RankedArm("fp32.tflite.gpu", 4.0, 0.1, 30), RankedArm("int8.tflite.nnapi.google-edgetpu", 8.0, 0.1, 30))
    made = Ranking(ranked, (ArmShare("fp32.tflite.gpu", 10_000),)).to_json()
    learned = {stack: {"camera": {"segmentation": {"burst": made, "sustained": made}}}}
    with Session(engine) as session, session.begin():
        recommend(session, pack_rankings(learned), {}, clock.now())
    waiting = operator.send("GET", "/v1/revisions?kind=recommendation").get_json()["revisions"][0]["revision"]
    found = operator.send("POST", PATH, {"revision": waiting}).get_json()
    assert found["changed"]["leader"]["reports"] == 5
    assert found["latency"]["known_reports"] == 4
    assert (found["latency"]["before_regret"], found["latency"]["after_regret"]) == (2.0, 1.0)


def test_measured_windows_weigh_the_classes(operator: Operator, engine: Engine, stored: list[bytes]) -> None:
    device_class = fingerprint(parse_report(stored[0])).device_class
    with engine.begin() as connection:
        columns = connection.execute(
            text(
                "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'observation_rollup'"
            )
        ).all()
        plain = {"ARRAY": "'{}'", "bigint": "0", "double precision": "0", "boolean": "false", "date": "'2026-01-01'"}
        values = {name: plain.get(kind, "'camera'") for name, kind in columns}
        values |= {"device_class": f"'{device_class}'", "windows": "40"}
        connection.execute(
            text(f"INSERT INTO observation_rollup ({', '.join(values)}) VALUES ({', '.join(values.values())})")
        )
    assert simulated(operator, content=NO_NPU)["seen"]["windows"] == 40


def test_over_its_time_it_tells_that_it_saw_a_sample(client: FlaskClient, engine: Engine, stored: list[bytes]) -> None:
    ticks = iter([0.0, *([1.0] * 3), *([99.0] * 9)])
    with client.application.app_context():
        live = live_release()
    assert live is not None
    asked = Asked(Draft(Kind.POLICY, NO_NPU), live, clock.now(), budget_s=10)
    found = Simulations(engine, lambda: next(ticks)).run(asked)
    assert (found["sampled"], found["seen"]["reports"], found["reports_total"]) == (True, 3, len(stored))


def test_a_worker_simulates_one_thing_at_a_time(client: FlaskClient, engine: Engine, stored: list[bytes]) -> None:
    with client.application.app_context():
        live = live_release()
    assert live is not None
    simulations: Simulations
    asked = Asked(Draft(Kind.POLICY, NO_NPU), live, clock.now())

    def another_starts() -> float:
        with pytest.raises(SimulationRunning):
            simulations.run(asked)
        return 0.0

    simulations = Simulations(engine, another_starts)
    assert simulations.run(asked)["seen"]["reports"] == len(stored)


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"kind": "flags", "content": {"app": "camera", "flags": {}}}, "kind"),
        ({"kind": "recommendation", "content": {}}, "kind"),
        ({"kind": "policy", "content": {"app": "camera", "exploration": 3}}, "exploration"),
        ({"kind": "policy", "content": NO_NPU, "budget_s": 21}, "budget_s"),
        ({"kind": "policy", "content": NO_NPU, "budget_s": True}, "budget_s"),
        ({"revision": 1, "kind": "policy"}, "revision"),
        ({"revision": "1"}, "revision"),
        ({"revision": 10**10}, "revision"),
    ],
)
def test_what_cannot_be_simulated_is_refused_with_its_field(
    operator: Operator, stored: list[bytes], asked: Any, field: str
) -> None:
    answer = operator.send("POST", PATH, asked)
    assert (answer.status_code, answer.get_json()["field"]) == (422, field)


def test_before_the_first_release_there_is_nothing_to_compare_with(operator: Operator) -> None:
    answer = operator.send("POST", PATH, {"kind": "policy", "content": NO_NPU})
    assert answer.get_json()["code"] == "unknown-release"


@pytest.mark.parametrize("level", [[], [1], {}, {"a": [1]}, True, 1, 1.0, "1", 10**30, None])
def test_a_level_of_whatever_kind_sinks_no_simulation(
    operator: Operator, client: FlaskClient, stored: list[bytes], level: Any
) -> None:
    for told in ({"runtime_feature_level": level}, {"devices": [dict(EDGETPU) | {"feature_level": level}]}):
        body = make_report(nnapi=nnapi(dict(EDGETPU)) | told)
        assert client.put(f"/v1/reports/{report_id(body)}", data=body).status_code == 201
    assert simulated(operator, content=NO_NPU)["seen"]["reports"] == len(stored) + 2


def test_levels_that_are_equal_and_of_another_kind_are_told_apart() -> None:
    bodies = [make_report(nnapi=nnapi(dict(EDGETPU) | {"feature_level": level})) for level in (1, True, 1.0, "1")]
    assert len({fleet.StoredReport("", body).key(builds=False) for body in bodies}) == len(bodies)


def test_reports_that_are_told_apart_by_nothing_have_one_fingerprint_but_for_the_build() -> None:
    seen: dict[Any, Any] = {}
    for body in phones():
        facts = fingerprint(parse_report(body))
        stored_report = fleet.StoredReport(facts.device_class, body)
        assert stored_report.fingerprint() == facts
        same = seen.setdefault(stored_report.key(builds=False), facts)
        assert same.model_copy(update={"build": facts.build}) == facts
        assert seen.setdefault(stored_report.key(builds=True), facts) == facts


def test_the_command_prints_what_would_change(
    operator: Operator, client: FlaskClient, stored: list[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from service.cli import policy_simulate, remote

    def send(self: remote.Remote, method: str, path: str, body: Any = None) -> remote.Reply:
        answer = operator.send(method, path, body)
        return remote.Reply(answer.status_code, {}, answer.get_json())

    monkeypatch.setenv("NNFLEET_MANAGE_TOKEN", TOKEN)
    monkeypatch.setattr(policy_simulate.Remote, "send", send)
    file = tmp_path / "camera.yaml"
    file.write_text(json.dumps(NO_NPU))
    ran = CliRunner().invoke(cli, ["policy", "simulate", str(file)])
    assert ran.exit_code == 0, ran.output
    assert "against release 1: 9 reports of" in ran.output
    assert (
        "camera/segmentation no-accelerator: int8.tflite.nnapi.google-edgetpu → int8.tflite.cpu, 4 reports"
        in ran.output
    )
    assert "deny no-npu: 4 reports" in ran.output
