"""From real rows to rollups, and from a learning run to the release that serves it (R-D5, R-E1)."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from builders import make_attempt, make_fingerprint, make_histogram, make_observation, make_report
from flask.testing import FlaskClient
from operating import Operator
from sqlalchemy import Engine, text
from sqlmodel import Session, select

from ml.array_file import packed
from ml.explore import Budget
from ml.memory import KIND, Memory
from ml.rollup import Rollup
from policies.report import report_id
from policies.revision import Kind
from service import clock
from service.jobs.jobs import BY_NAME
from service.jobs.recommend import learn, look
from service.jobs.remembering import FILE, recalled, remember
from service.jobs.rollup import roll_up, rollups
from service.jobs.run import figures_of
from service.releasing.releases import load
from service.releasing.revisions import recommend
from service.settings import Settings
from service.store import revisions, uses
from service.store.findings import finding_id
from service.store.tables import FindingRow

pytestmark = pytest.mark.usefixtures("known_report")
NPU, CPU = "int8.tflite.nnapi.google-edgetpu", "int8.tflite.cpu"


def send(client: FlaskClient, records: Sequence[dict[str, Any]]) -> None:
    answer = client.post("/v1/telemetry", json=list(records))
    assert answer.get_json()["rejected"] == [], answer.text


def rolled(engine: Engine, grace_s: float = -60) -> list[Rollup]:
    """Rollups in which a start without a window is a crash once it is older than `grace_s`."""
    now = clock.now()
    figures_of(roll_up(engine, now, now - timedelta(seconds=grace_s)))
    with Session(engine) as session:
        return rollups(session)


def test_windows_of_one_cell_are_merged_and_those_kept_apart_that_are_hot_or_do_not_say(
    client: FlaskClient, engine: Engine
) -> None:
    hot = {"after": {"thermal_status": 2}}
    warm = {"after": {"thermal_status": 1}}
    send(
        client,
        [
            make_observation((4000, 4000)),
            make_observation((4000,), conditions=warm),
            make_observation((9000,), conditions=hot),
            make_observation((5000,), conditions=None),
        ],
    )
    cool, throttled, untold = rolled(engine)
    assert (cool.hot, cool.windows, cool.measured) == (False, 2, 2)
    assert (throttled.hot, throttled.windows) == (True, 1)
    assert (untold.hot, untold.windows, untold.measured) == (None, 1, 1)
    assert cool.cell == (make_fingerprint().device_class, "camera", "segmentation", NPU)
    assert cool.delegated_share == 1.0
    assert cool.log_p50_us < throttled.log_p50_us


def test_what_starts_cost_and_who_executed_is_in_the_rollup(client: FlaskClient, engine: Engine) -> None:
    warm = {"load_us": 1000, "compile_us": 500, "cache_hit": True, "first_run_us": 9000}
    cold = {"load_us": 3000, "compile_us": 90_000, "cache_hit": False, "first_run_us": 9000}
    here = {"by": "TfLiteXNNPackDelegate", "delegated_nodes": 0, "total_nodes": 4, "partitions": 1}
    send(
        client,
        [
            make_observation((4000, 4000), init=warm, golden={"checks": 1, "passed": 1, "max_rel_error": 0.01}),
            make_observation((4000,), init=cold, executed=here),
        ],
    )
    [cell] = rolled(engine)
    assert (cell.runs, cell.on_cpu, cell.measured) == (3, 1, 2)
    assert (cell.load_us, cell.compile_us, cell.cold_share) == (2000.0, 90_000.0, 0.5)
    assert cell.golden_log_error is not None
    assert cell.golden_log_error < 0


def test_failures_are_told_apart(client: FlaskClient, engine: Engine) -> None:
    send(
        client,
        [
            make_observation(golden={"checks": 10, "passed": 7}),
            make_observation((), runs={"errors": {"DEAD_OBJECT": 1}}),
            make_observation((), runs={"timeouts": 1, "errors": {"TIMEOUT": 1}}),
        ],
    )
    [cell] = rolled(engine)
    assert (cell.windows, cell.measured) == (3, 1)
    assert (cell.golden_failed, cell.failed, cell.timed_out) == (1, 1, 1)


@pytest.mark.parametrize("clock_fault", ["latency", "start"])
def test_a_clock_that_was_set_back_costs_the_durations_and_nothing_else(
    client: FlaskClient, engine: Engine, clock_fault: str
) -> None:
    def seen_by_it(latencies_us: tuple[int, ...] = (4100, 4200), **changes: Any) -> dict[str, Any]:
        record = make_observation(latencies_us, **changes)
        if clock_fault == "start":
            return record | {"init": {"load_us": 900, "compile_us": -5}}
        record["runs"]["latency_us"] = make_histogram((4100, 4200)) | {"min": -120}
        return record

    attempt = make_attempt()
    send(
        client,
        [
            make_observation(),
            attempt,
            seen_by_it(golden={"checks": 10, "passed": 7}, attempt_id=attempt["record_id"]),
            seen_by_it((), runs={"errors": {"DEAD_OBJECT": 1}}),
            seen_by_it((), runs={"timeouts": 1, "errors": {"TIMEOUT": 1}}),
        ],
    )
    [cell] = rolled(engine)
    assert (cell.windows, cell.golden_failed, cell.failed, cell.timed_out, cell.crashed) == (4, 1, 1, 1, 0)
    assert (cell.measured, cell.runs, cell.load_us, cell.compile_us) == (1, 3, 900.0, 45_100.0)


def test_outputs_that_are_no_numbers_and_windows_too_fast_to_believe_are_in_the_rollup(
    client: FlaskClient, engine: Engine
) -> None:
    slow = [make_observation((8_000_000,), arm=CPU) for _ in range(30)]
    send(client, slow)
    rolled(engine)
    client.application.extensions["nnfleet"].intake._cohorts._until_s = 0.0
    wrong = make_observation(
        (8_000_000,), golden={"checks": 1, "passed": 0, "max_rel_error": 1e12}, arm="fp32.tflite.gpu"
    )
    unchecked = [make_observation((90_000,), golden=None) for _ in range(2)]
    send(client, [wrong, *unchecked])
    cells = {rollup.cell.arm: rollup for rollup in rolled(engine)}
    assert (cells["fp32.tflite.gpu"].non_finite, cells["fp32.tflite.gpu"].too_good) == (1, 0)
    assert (cells[NPU].windows, cells[NPU].measured, cells[NPU].too_good) == (0, 0, 2)
    assert (cells[CPU].non_finite, cells[CPU].too_good) == (0, 0)
    passed = make_observation((90_000,), golden={"checks": 1, "passed": 1})
    send(client, [passed])
    assert next(rollup for rollup in rolled(engine) if rollup.cell.arm == NPU).measured == 1


def test_a_compilation_of_no_time_was_not_timed_unless_a_cache_had_it(client: FlaskClient, engine: Engine) -> None:
    send(
        client,
        [
            make_observation(init={"load_us": 900, "compile_us": 0}),
            make_observation(init={"load_us": 900, "compile_us": 0, "cache_hit": False}),
            make_observation(init={"load_us": 900, "compile_us": 0, "cache_hit": True}),
        ],
    )
    with engine.connect() as connection:
        told = connection.execute(text("SELECT compile_us, cache_hit FROM observation")).all()
    assert set(told) == {(None, None), (None, False), (0, True)}


def test_a_start_that_no_window_followed_is_a_crash_once_its_time_is_over(client: FlaskClient, engine: Engine) -> None:
    followed, lost = make_attempt(), make_attempt()
    send(client, [followed, lost, make_observation(attempt_id=followed["record_id"])])
    [late] = rolled(engine)
    assert (late.attempts, late.crashed, late.windows) == (2, 1, 1)
    [early] = rolled(engine, grace_s=60)
    assert (early.attempts, early.crashed) == (2, 0)


def test_what_was_set_aside_is_in_no_rollup(client: FlaskClient, engine: Engine) -> None:
    emulator = make_report(device={"model": "sdk_gphone64_arm64"})
    client.put(f"/v1/reports/{report_id(emulator)}", data=emulator)
    send(
        client,
        [
            make_observation(report_id=report_id(emulator)),
            make_attempt(report_id=report_id(emulator)),
            make_observation(golden={"checks": 1, "passed": 2}),
        ],
    )
    assert rolled(engine) == []


@pytest.mark.slow
def test_what_a_learning_run_ranks_is_served_by_the_next_release_and_not_before(
    client: FlaskClient, engine: Engine, operator: Operator, known_report: str
) -> None:
    operator.publish()
    slow = [make_observation((40_000, 41_000), golden=None) for _ in range(30)]
    quick = [
        make_observation(
            (4000, 4100),
            golden=None,
            arm=CPU,
            requested={"delegate": "cpu"},
            executed={"by": "cpu", "delegated_nodes": 0, "total_nodes": 4},
        )
        for _ in range(30)
    ]
    send(client, slow + quick)
    run = learn(engine, clock.now(), clock.now(), Budget())
    assert run.rankings >= 1
    assert run.figures["cells_measured"] == 2
    path = f"/v1/decisions/camera/{known_report}"
    before = client.get(path).get_json()["models"]["segmentation"]
    assert before["because"][0]["rule"] == "out-of-the-box"
    operator.publish("learned")
    content = load(engine)
    assert content is not None
    client.application.extensions["nnfleet"].lookup.swap(content)
    after = client.get(path).get_json()["models"]["segmentation"]
    assert after["because"][0]["rule"] == "learned"
    assert after["plans"]["main"]["splits"][0]["ladder"][0] == CPU
    assert json.dumps(before["arms"]) != json.dumps(after["arms"])


def test_looking_for_faults_ranks_nothing(client: FlaskClient, engine: Engine) -> None:
    send(client, [make_observation()])
    assert look(engine, clock.now(), clock.now()) == ()
    with Session(engine) as session:
        assert revisions.page(session, Kind.RECOMMENDATION, None, None, 1) == []


def test_a_look_notes_what_it_found(client: FlaskClient, engine: Engine) -> None:
    wrong = {"checks": 2, "passed": 0, "max_rel_error": 0.4}
    send(client, [make_observation(golden=wrong, executed={"by": "cpu"}) for _ in range(40)])
    found = look(engine, clock.now(), clock.now())
    assert "wrong-output" in {finding.name for finding in found}
    with Session(engine) as session:
        noted = session.exec(select(FindingRow)).all()
    assert {row.id for row in noted} == {finding_id(finding.to_json()) for finding in found}
    assert all(row.present and row.recommendation is None for row in noted)


@pytest.mark.slow
def test_a_recommendation_carries_its_gate_and_names_the_uses_behind_it(
    client: FlaskClient, engine: Engine, operator: Operator
) -> None:
    operator.publish()
    send(client, [make_observation((4000, 4100), release=1, propensity=0.9) for _ in range(5)])
    first = learn(engine, clock.now(), clock.now(), Budget()).figures["gate"]
    assert (first["rankings_compared"], first["passes"]) == (0, True)
    operator.publish()
    send(client, [make_observation((4000, 4100), release=2, propensity=0.9) for _ in range(5)])
    second = learn(engine, clock.now(), clock.now(), Budget()).figures["gate"]
    assert second["rankings_compared"] >= 1
    assert second["off_policy"]["uses"] == 5
    assert set(second["off_policy"]["estimates"]) == {"ips", "dr", "snips"}


def test_a_refused_recommendation_stays_a_draft_until_somebody_says_why_it_should_go_out(
    client: FlaskClient, engine: Engine, operator: Operator
) -> None:
    operator.publish()
    send(client, [make_observation((4000, 4100)) for _ in range(5)])
    learn(engine, clock.now(), clock.now(), Budget())
    with Session(engine, expire_on_commit=False) as session, session.begin():
        recommend(session, b"", {}, clock.now(), ["5.0% of uses would cost over 5% more"])
        waiting, refused = reversed(revisions.page(session, Kind.RECOMMENDATION, None, None, 2))
        assert (waiting.state, refused.state) == ("in-review", "draft")
        assert refused.note == "refused by its gate: 5.0% of uses would cost over 5% more"
    submitted = operator.send("POST", f"/v1/revisions/{refused.number}/submit", {"note": "a new phone, nothing else"})
    assert submitted.get_json()["state"] == "in-review"
    logged = operator.send("GET", "/v1/audit").get_json()["audit"]
    detail = next(entry["detail"] for entry in reversed(logged) if entry["action"] == "revision-submit")
    assert detail["note"] == "a new phone, nothing else"
    assert detail["against_the_gate"] == refused.note


def test_the_chances_of_both_sides_of_a_rollout_add_up(client: FlaskClient, engine: Engine, operator: Operator) -> None:
    """The candidate leads with the control's arm too, and some explore it: 0.3 + 0.6 + 0.05."""
    operator.publish()
    for side, propensity in (("", 0.6), ("+candidate", 0.3), ("+explore", 0.05)):
        send(client, [make_observation(arm=f"{NPU}{side}", release=1, propensity=propensity) for _ in range(2)])
    send(client, [make_observation(arm=CPU, requested={"delegate": "cpu"}, release=1, propensity=0.05)])
    with Session(engine) as session:
        found = uses.of_release(session, 1)
    assert {round(use.propensity, 6) for use in found if use.arm == NPU} == {0.95}
    assert [use.propensity for use in found if use.arm == CPU] == [pytest.approx(0.05)]
    assert len(found) == 7


def test_a_few_fake_phones_move_no_cohort(client: FlaskClient, engine: Engine) -> None:
    def honest(number: int) -> dict[str, Any]:
        latency_us = 40_000 + 100 * (number % 41)
        return make_observation((latency_us,) * 3)

    for start in range(0, 120, 40):
        send(client, [honest(number) for number in range(start, start + 40)])
    [before] = rolled(engine)
    client.application.extensions["nnfleet"].intake._cohorts._until_s = 0.0
    fakes = [make_observation((latency_us,) * 3) for latency_us in (400, 40, 13_000) for _ in range(30)]
    verdicts = client.post("/v1/telemetry", json=fakes).get_json()
    assert [row["reason"] for row in verdicts["set_aside"]] == ["too-good-to-be-true"] * 30 + ["unit-suspect"] * 30
    flood = client.post("/v1/telemetry", json=[make_observation((13_000,) * 3) for _ in range(500)]).get_json()
    assert flood["accepted"] == 60
    assert {row["reason"] for row in flood["set_aside"]} == {"over-batch-share"}
    starts = client.post("/v1/telemetry", json=[make_attempt() for _ in range(500)]).get_json()
    assert (starts["accepted"], len(starts["set_aside"])) == (60, 440)
    [after] = rolled(engine)
    assert (after.windows, after.attempts) == (before.windows + 30 + 60, 60)
    # Ninety of the 210 windows are false now, three times too quick: the median stays among the honest ones.
    assert 40_000 * 0.99 < math.exp(after.log_p50_us) <= math.exp(before.log_p50_us)


def test_a_learning_job_starts_from_what_the_one_before_left(
    client: FlaskClient,
    engine: Engine,
    operator: Operator,
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ml.memory.ADAPT_FROM", 1)  # two cells are a population here
    operator.publish()
    send(client, [make_observation(arm=arm) for arm in (NPU, CPU)])
    keeping = replace(settings, local_folder=tmp_path / "local")
    first, second = (figures_of(BY_NAME["recommend"].steps(engine, keeping, clock.now())) for _ in range(2))
    assert (first["variances"]["kept"], second["variances"]["kept"]) == (0, 1)
    assert [file.name for file in (tmp_path / "local").iterdir()] == [FILE]


def test_what_another_version_left_is_refused_and_learned_anew(tmp_path: Path) -> None:
    remember(tmp_path, Memory())
    kept = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(packed(replace(KIND, version=KIND.version + 1), {}, {}))
    assert recalled(tmp_path) == Memory()
    (tmp_path / FILE).write_bytes(kept[:-20])
    assert recalled(tmp_path) == recalled(tmp_path / "never") == recalled(None) == Memory()


def test_a_run_whose_variances_cannot_be_kept_stands(tmp_path: Path) -> None:
    (tmp_path / "local").write_text("no folder")
    remember(tmp_path / "local", Memory())
    assert (tmp_path / "local").read_text() == "no folder"


def test_an_arm_whose_windows_took_more_memory_than_the_model_may_is_ranked_nowhere(
    client: FlaskClient, engine: Engine, operator: Operator
) -> None:
    operator.publish(max_memory_mb=50.0)
    send(client, [make_observation(memory_peak_kb=peak) for peak in (61_000, 60_000, None)])
    send(client, [make_observation((9000,), arm=CPU, memory_peak_kb=30_000)])
    [npu, _] = sorted(rolled(engine), key=lambda rollup: rollup.cell.arm, reverse=True)
    assert npu.log_memory_kb == pytest.approx(math.log(61_000 * 60_000) / 2)
    learn(engine, clock.now(), clock.now(), Budget())
    operator.publish(max_memory_mb=50.0)
    content = load(engine)
    assert content is not None
    ranking = content.rankings[make_fingerprint().driver_stack]["camera"]["segmentation"]["burst"]
    assert ranking["excluded"] == {NPU: "memory_over_limit"}
