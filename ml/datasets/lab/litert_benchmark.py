"""What LiteRT's `benchmark_model` prints: its block of results, and TFLite's lines on who took which nodes over."""

from __future__ import annotations

from typing import Final

from ml.datasets.lab.lines import CLAIM, NUMBER, Form, claim_of, understood
from ml.datasets.lab.measurement import Claim, LabFileError, LabMeasurement, Source

HEADING: Final = "BENCHMARK RESULTS ="
US_A_MS: Final = 1_000
KB_A_MB: Final = 1_024

_FORMS: Final = (
    CLAIM,
    Form.of("init", r"Model initialization:", rf"initialization:\s+(?P<value>{NUMBER}) ms"),
    Form.of("first", r"Warmup \(first\):", rf"\(first\):\s+(?P<value>{NUMBER}) ms"),
    Form.of("mean", r"(?<!, )Inference \(avg\):", rf"\(avg\):\s+(?P<value>{NUMBER}) ms \((?P<runs>\d+) runs\)"),
    Form.of("min", r"Inference \(min\):", rf"\(min\):\s+(?P<value>{NUMBER}) ms"),
    Form.of("max", r"Inference \(max\):", rf"\(max\):\s+(?P<value>{NUMBER}) ms"),
    Form.of("peak", r"Peak memory:", rf"Peak memory:\s+(?P<value>{NUMBER}) MB"),
    Form.of("results", HEADING, HEADING),
)


def read(file: str, text: str) -> list[LabMeasurement]:
    """The one run in a log. Raises LabFileError where a line is malformed, or a second run or the mean is not there."""
    claims: list[Claim] = []
    values: dict[str, float] = {}
    runs, place = 0, 0
    for said in understood(file, text.splitlines(), _FORMS):
        if said.kind == CLAIM.kind:
            claims += filter(None, [claim_of(file, said)])
        elif said.kind in values:
            raise LabFileError(file, "a second run begins: one log of this tool holds one", said.number)
        elif said.kind != "results":
            values[said.kind] = float(said.facts["value"])
            runs, place = (int(said.facts["runs"]), said.number) if said.kind == "mean" else (runs, place)
    if not runs:
        raise LabFileError(file, "no runs were timed")
    times_us = {
        kind: round(values[kind] * US_A_MS, 3) for kind in ("init", "first", "mean", "min", "max") if kind in values
    }
    return [
        LabMeasurement(
            Source.LITERT_BENCHMARK,
            place=f"line {place}",
            latency_us=times_us["mean"],
            runs=runs,
            min_us=times_us.get("min"),
            max_us=times_us.get("max"),
            init_us=times_us.get("init"),
            first_run_us=times_us.get("first"),
            memory_peak_kb=round(values["peak"] * KB_A_MB) if "peak" in values else None,
            claims=tuple(claims),
        )
    ]
