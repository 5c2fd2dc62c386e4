"""What `nnfleet device run` prints for a person."""

from __future__ import annotations

from typing import Any

from service.cli.device_run import told_lines

RAN = {
    "arm": "int8.tflite.cpu", "ending": "ran", "runs": 30, "failure": None, "p50_ms": 6.519, "golden": {"max_rel_error": 0.043},
    "executed": {"by": "TfLiteXNNPackDelegate", "delegated_nodes": 143, "total_nodes": 143, "partitions": 1},
    "init": {"load_us": 590, "compile_us": 2_140, "cache_hit": True, "first_run_us": 31_000},
}  # fmt: skip
FELL = {
    "arm": "fp32.tflite.gpu",
    "ending": "failed",
    "runs": 0,
    "failure": "compile:x.cc:7",
    "executed": None,
    "golden": None,
}


def told(*steps: dict[str, Any], served_by: str | None = "int8.tflite.cpu") -> list[str]:
    sent = {"accepted": 2, "set_aside": 0}
    return list(told_lines([{"release": 3, "served_by": served_by, "steps": steps, "telemetry": sent, "waiting": 0}]))


def test_each_rung_says_how_it_ended_and_who_ran_it() -> None:
    assert told(FELL, RAN) == [
        "round 1, release 3: served by int8.tflite.cpu",
        "  fp32.tflite.gpu, compile:x.cc:7",
        "  int8.tflite.cpu, ran, p50 6.519 ms over 30 runs, TfLiteXNNPackDelegate: 143 of 143 nodes, pieces: 1, compiled from the cache in 2.1 ms, golden error 0.043",
        "  telemetry: 2 accepted, 0 set aside, 0 waiting",
    ]


def test_a_rung_that_was_passed_over_and_a_use_that_nothing_served_are_told() -> None:
    over = {"arm": "fp32.tflite.gpu", "ending": "passed_over"}
    assert told(over, served_by=None)[:2] == [
        "round 1, release 3: served by nothing",
        "  fp32.tflite.gpu, passed_over",
    ]
