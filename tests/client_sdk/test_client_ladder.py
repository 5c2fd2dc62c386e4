"""Walking the ladder (R-C1, R-G3): one rung down on failure, never twice to a dead driver, every step reported."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sdk_builders import (
    ARMS,
    CPU,
    GPU,
    NPU,
    FakeRunner,
    FakeServer,
    FakeSession,
    ManualClock,
    arm,
    dead_object,
    make_client,
    make_document,
    make_model,
    split,
)

from nnfleet_client import ArmFailed, Ending, FleetClient, GoldenResult, Init, Reason, RunTimeout

GOOD, BAD = GoldenResult(2, 2, 0.004), GoldenResult(2, 1, 0.7)


def ready(server: FakeServer | None = None, **changes: Any) -> FleetClient:
    client = make_client(server, **changes)
    client.refresh()
    return client


def reported(client: FleetClient, server: FakeServer) -> dict[str, dict[str, Any]]:
    client.flush()
    return {record["arm"]: record for record in server.records.values()}


def test_a_ladder_that_works_is_left_at_its_first_rung() -> None:
    runner = FakeRunner()
    outcome = ready().use("segmentation", runner, 30)
    assert runner.started == [NPU]
    assert (outcome.arm_id, outcome.reason, outcome.error_code) == (NPU, Reason.FRESH, None)
    assert outcome.latency.total == 30


def test_a_driver_that_dies_costs_one_rung_and_no_second_lookup() -> None:
    server = FakeServer()
    client = ready(server)
    asked = len(server.calls)
    outcome = client.use("segmentation", FakeRunner({NPU: dead_object()}), 30)
    assert [(step.arm_id, step.ending) for step in outcome.steps] == [(NPU, Ending.FAILED), (GPU, Ending.RAN)]
    assert len(server.calls) == asked
    records = reported(client, server)
    assert records[NPU]["runs"] == {
        "count": 0,
        "errors": {"compile:ANEURALNETWORKS_DEAD_OBJECT": 1},
        "timeouts": 0,
        "fallbacks": 1,
    }
    assert (records[GPU]["runs"]["count"], records[GPU]["runs"]["fallbacks"]) == (30, 0)


def test_a_rung_that_failed_is_not_tried_again_in_this_process() -> None:
    client, runner = ready(), FakeRunner({NPU: ArmFailed("compile", "TfLiteError")})
    client.use("segmentation", runner, 1)
    outcome = client.use("segmentation", runner, 1)
    assert runner.started == [NPU, GPU, GPU]
    assert outcome.steps[0].ending is Ending.PASSED_OVER


def test_another_process_tries_the_rung_again() -> None:
    runner = FakeRunner({NPU: dead_object()})
    ready().use("segmentation", runner, 1)
    ready().use("segmentation", runner, 1)
    assert runner.started == [NPU, GPU, NPU, GPU]


def two_models(code: str) -> FakeRunner:
    document = make_document(models={"segmentation": make_model(), "detection": make_model()})
    client, runner = ready(FakeServer(document=document)), FakeRunner({NPU: ArmFailed("compile", code)})
    client.use("segmentation", runner, 1)
    client.use("detection", runner, 1)
    return runner


def test_a_dead_driver_is_dead_for_every_model() -> None:
    assert two_models("ANEURALNETWORKS_DEAD_OBJECT").started == [NPU, GPU, GPU]


def test_a_model_that_a_driver_cannot_compile_says_nothing_about_other_models() -> None:
    assert two_models("ANEURALNETWORKS_OP_FAILED").started == [NPU, GPU, NPU, GPU]


def test_new_settings_of_an_arm_give_it_a_new_chance() -> None:
    server, clock = FakeServer(), ManualClock()
    client, runner = ready(server, clock=clock), FakeRunner({NPU: ArmFailed("compile", "TfLiteError")})
    client.use("segmentation", runner, 1)
    arms = {**ARMS, NPU: arm("nnapi", "google-edgetpu", workarounds=["serialise_executions"])}
    server.document = make_document(make_model(arms=arms), release=42)
    clock.pass_s(100)
    client.refresh()
    client.use("segmentation", runner, 1)
    assert runner.started == [NPU, GPU, NPU, GPU]


def test_a_failed_golden_check_is_recorded_before_any_run_and_costs_one_rung() -> None:
    server, npu = FakeServer(), FakeSession(golden_result=BAD)
    client = ready(server)
    outcome = client.use("segmentation", FakeRunner({NPU: npu}), 30)
    assert [(step.arm_id, step.ending) for step in outcome.steps] == [(NPU, Ending.GOLDEN_FAILED), (GPU, Ending.RAN)]
    assert (npu.runs, npu.closed) == (0, 1)
    record = reported(client, server)[NPU]
    assert record["golden"] == {"checks": 2, "passed": 1, "max_rel_error": 0.7}
    assert record["executed"]["delegated_nodes"] == 64


def test_an_arm_that_failed_its_golden_check_is_not_tried_again() -> None:
    client, runner = ready(), FakeRunner({NPU: FakeSession(golden_result=BAD)})
    client.use("segmentation", runner, 1)
    client.use("segmentation", runner, 1)
    assert runner.started == [NPU, GPU, GPU]


def test_a_passed_golden_check_goes_with_the_window() -> None:
    server = FakeServer()
    client = ready(server)
    client.use("segmentation", FakeRunner({NPU: FakeSession(golden_result=GOOD)}), 1)
    assert reported(client, server)[NPU]["golden"] == {"checks": 2, "passed": 2, "max_rel_error": 0.004}


def test_the_last_rung_serves_even_when_its_golden_check_fails() -> None:
    troubles = {NPU: dead_object(), GPU: dead_object(), CPU: FakeSession(golden_result=BAD)}
    outcome = ready().use("segmentation", FakeRunner(troubles), 3)
    assert (outcome.arm_id, outcome.latency.total) == (CPU, 3)


def test_runs_that_a_failing_arm_left_are_made_by_the_next() -> None:
    server, npu = FakeServer(), FakeSession(trouble_at_run={11: ArmFailed("run", "ANEURALNETWORKS_OP_FAILED")})
    client = ready(server)
    outcome = client.use("segmentation", FakeRunner({NPU: npu}), 30)
    assert [step.window.count for step in outcome.steps if step.window] == [10, 20]
    assert outcome.latency.total == 30
    assert reported(client, server)[NPU]["runs"]["errors"] == {"run:ANEURALNETWORKS_OP_FAILED": 1}


def test_a_timeout_is_its_own_outcome_and_enters_no_latency() -> None:
    server, npu = FakeServer(), FakeSession(trouble_at_run={3: RunTimeout()})
    client = ready(server)
    outcome = client.use("segmentation", FakeRunner({NPU: npu}), 30)
    assert outcome.steps[0].ending is Ending.TIMED_OUT
    runs = reported(client, server)[NPU]["runs"]
    assert (runs["count"], runs["timeouts"], runs["errors"], runs["fallbacks"]) == (2, 1, {}, 1)


def test_a_start_that_hangs_is_a_timeout_too() -> None:
    outcome = ready().use("segmentation", FakeRunner({NPU: RunTimeout()}), 30)
    assert outcome.steps[0].ending is Ending.TIMED_OUT


def test_a_session_is_closed_whatever_happens_in_it() -> None:
    sessions = [FakeSession(), FakeSession(golden_result=BAD), FakeSession(trouble_at_run={1: RunTimeout()})]
    for session in sessions:
        ready().use("segmentation", FakeRunner({NPU: session}), 1)
    assert [session.closed for session in sessions] == [1, 1, 1]


@pytest.mark.parametrize(
    ("trouble", "code"), [(ArmFailed("close", "TfLiteError"), "close:TfLiteError"), (RunTimeout(), "close:timeout")]
)
def test_trouble_at_closing_is_counted_but_the_runs_were_made(trouble: Exception, code: str) -> None:
    server = FakeServer()
    client = ready(server)
    outcome = client.use("segmentation", FakeRunner({NPU: FakeSession(close_trouble=trouble)}), 5)
    assert (outcome.arm_id, outcome.steps[0].ending) == (NPU, Ending.RAN)
    assert reported(client, server)[NPU]["runs"]["errors"] == {code: 1}


def test_warm_up_runs_come_first_and_are_not_measured() -> None:
    document = make_document(make_model(arms={**ARMS, NPU: arm("nnapi", "google-edgetpu", warmup_runs=3)}))
    npu = FakeSession()
    outcome = ready(FakeServer(document=document)).use("segmentation", FakeRunner({NPU: npu}), 10)
    assert (npu.runs, outcome.latency.total) == (13, 10)


def test_an_odd_number_of_warm_up_runs_is_none() -> None:
    document = make_document(make_model(arms={**ARMS, NPU: arm("nnapi", "google-edgetpu", warmup_runs="many")}))
    npu = FakeSession()
    ready(FakeServer(document=document)).use("segmentation", FakeRunner({NPU: npu}), 10)
    assert npu.runs == 10


def test_a_document_whose_whole_ladder_fails_is_followed_by_the_bundled_default() -> None:
    document = make_document(make_model([split(10_000, NPU, GPU)]))
    outcome = ready(FakeServer(document=document)).use(
        "segmentation", FakeRunner({NPU: dead_object(), GPU: dead_object()}), 5
    )
    assert (outcome.arm_id, outcome.reason, outcome.error_code) == (CPU, Reason.DEFAULT, "ladder-exhausted")
    assert [step.arm_id for step in outcome.steps] == [NPU, GPU, CPU]
    assert outcome.latency.total == 5


def test_where_even_the_default_fails_the_outcome_says_so_and_the_app_lives() -> None:
    runner = FakeRunner({NPU: dead_object(), GPU: dead_object(), CPU: dead_object()})
    outcome = ready().use("segmentation", runner, 5)
    assert (outcome.arm_id, outcome.error_code, outcome.latency.total) == (None, "ladder-exhausted", 0)


def test_the_last_rung_is_tried_whatever_is_held_against_it() -> None:
    client = make_client()
    client.use("segmentation", FakeRunner({CPU: ArmFailed("load", "out of memory")}), 1)
    assert client.use("segmentation", FakeRunner(), 1).arm_id == CPU


def test_the_chance_of_an_arm_takes_in_the_shares_that_moved_to_it() -> None:
    server = FakeServer(document=make_document(make_model([split(9_800, NPU, GPU, CPU), split(200, GPU, NPU, CPU)])))
    client = ready(server)
    client.use("segmentation", FakeRunner({NPU: dead_object()}), 1)
    records = reported(client, server)
    assert (records[NPU]["propensity"], records[GPU]["propensity"]) == (0.98, 1.0)


def test_who_executed_and_what_was_asked_for_are_kept_apart() -> None:
    server = FakeServer()
    client = ready(server)
    client.use("segmentation", FakeRunner(), 1)
    record = reported(client, server)[NPU]
    assert record["requested"] == {"delegate": "nnapi", "accelerator": "google-edgetpu"}
    assert record["executed"] == {
        "by": "TfLiteNnapiDelegate",
        "delegated_nodes": 64,
        "total_nodes": 64,
        "partitions": 1,
    }


def test_a_window_says_all_that_the_wire_contract_asks_for() -> None:
    server = FakeServer()
    client = ready(server)
    conditions = iter([{"thermal_status": 0, "battery_c": 31.5, "charging": True}, {"thermal_status": 1}])
    client.use("segmentation", FakeRunner(), 30, workload="burst", conditions=lambda: next(conditions))
    record = reported(client, server)[NPU]
    assert record["record_id"][14] == "7"
    assert record["attempt_id"][14] == "7"
    expected = {
        "report_id": client.report_id,
        "app": "camera",
        "release": 41,
        "model": "segmentation",
        "plan": "main",
        "propensity": 1.0,
        "workload": "burst",
        "kind": "window",
        "init": {"load_us": 900, "compile_us": 45_100, "cache_hit": False},
        "conditions": {
            "before": {"thermal_status": 0, "battery_c": 31.5, "charging": True},
            "after": {"thermal_status": 1},
        },
        "device_time": "2026-05-28T20:26:40.000Z",
        "monotonic_ms": 1_000_000,
        "sdk": "python/0.1.0",
    }
    assert expected.items() <= record.items()
    assert record["runs"]["latency_us"] == {
        "min": 1_500,
        "max": 1_500,
        "sum": 45_000,
        "histogram": {"gamma": 1.02, "counts": {"370": 30}},
    }


def test_what_is_not_known_is_absent_and_not_zero() -> None:
    server = FakeServer()
    client = make_client(server)
    client.use("segmentation", FakeRunner({CPU: FakeSession(init=Init())}), 1)
    record = reported(client, server)[CPU]
    assert {"workload", "golden", "memory_peak_kb", "app_version"}.isdisjoint(record)
    assert (record["init"], record["conditions"], record["release"]) == ({}, {"before": {}}, 0)


def test_without_a_probe_of_conditions_what_the_app_said_is_kept() -> None:
    server = FakeServer()
    client = make_client(server)
    client.use("segmentation", FakeRunner(), 1, thermal="severe", battery_saver=False)
    assert reported(client, server)[CPU]["conditions"] == {"before": {"thermal_status": 3, "battery_saver": False}}


def test_a_session_that_knows_its_memory_reports_it() -> None:
    class Measuring(FakeSession):
        memory_peak_kb = 61_000

    server = FakeServer()
    client = make_client(server)
    client.use("segmentation", FakeRunner({CPU: Measuring()}), 1)
    assert reported(client, server)[CPU]["memory_peak_kb"] == 61_000


@pytest.mark.parametrize("latency_us", [-120, float("nan"), float("inf")])
def test_an_impossible_duration_is_an_error_and_enters_no_latency(latency_us: float) -> None:
    server = FakeServer()
    client = make_client(server)
    client.use("segmentation", FakeRunner({CPU: FakeSession(latency_us=latency_us)}), 2)  # type: ignore[arg-type]
    runs = reported(client, server)[CPU]["runs"]
    assert runs == {"count": 0, "errors": {"run:impossible_duration": 2}, "timeouts": 0, "fallbacks": 0}


def test_what_a_broken_clock_says_about_the_start_is_left_out() -> None:
    server = FakeServer()
    client = make_client(server)
    client.use("segmentation", FakeRunner({CPU: FakeSession(init=Init(load_us=-3, compile_us=0))}), 1)
    assert reported(client, server)[CPU]["init"] == {"compile_us": 0}


@pytest.mark.parametrize(("error", "sent"), [(float("nan"), 1e12), (float("inf"), 1e12), (5e30, 1e12), (0.5, 0.5)])
def test_a_driver_that_returns_nonsense_is_still_heard_about(error: float, sent: float) -> None:
    server = FakeServer()
    client = ready(server)
    client.use("segmentation", FakeRunner({NPU: FakeSession(golden_result=GoldenResult(1, 0, error))}), 1)
    assert reported(client, server)[NPU]["golden"].get("max_rel_error") == sent


def test_a_driver_that_says_too_much_does_not_sink_its_record() -> None:
    server = FakeServer()
    client = ready(server)
    client.use("segmentation", FakeRunner({NPU: ArmFailed("compile", "line\none\x00" + "x" * 5_000)}), 1)
    (code,) = reported(client, server)[NPU]["runs"]["errors"]
    assert code.startswith("compile:line one xxx")
    assert len(code) == 128


def test_fractions_of_a_microsecond_are_rounded_on_the_wire() -> None:
    server = FakeServer()
    client = make_client(server)
    client.use("segmentation", FakeRunner({CPU: FakeSession(latency_us=1_500.4)}), 1)  # type: ignore[arg-type]
    assert json.dumps(reported(client, server)[CPU]["runs"]["latency_us"]["sum"]) == "1500"


def test_an_app_may_run_nothing_and_only_start() -> None:
    outcome = ready().use("segmentation", FakeRunner(), 0)
    assert (outcome.arm_id, outcome.latency.total) == (NPU, 0)
