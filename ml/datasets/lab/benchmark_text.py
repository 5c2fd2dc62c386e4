"""What TFLite's `benchmark_model` prints, straight or through logcat; one file may hold several runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from ml.datasets.lab.lines import CLAIM, NUMBER, Form, Said, claim_of, understood
from ml.datasets.lab.measurement import Claim, LabFileError, LabMeasurement, Source

KB_A_MB: Final = 1024
"""The tool divides kilobytes by it and calls the result MB."""

_TIMES: Final = {"init_us", "first_run_us", "latency_us", "min_us", "max_us"}
_FORMS: Final = (
    Form.of("start", r"\bSTARTING!", r"STARTING!"),
    Form.of(
        "timings",
        r"inference timings in us:",
        rf"Inference timings in us: Init: (?P<init_us>{NUMBER}), First inference: (?P<first_run_us>{NUMBER}), "
        rf"Warmup \(avg\): {NUMBER}, Inference \(avg\): (?P<latency_us>{NUMBER})",
        rf"Average inference timings in us: Warmup: {NUMBER}, Init: (?P<init_us>{NUMBER}), "
        rf"(?:no stats|Inference): (?P<latency_us>{NUMBER})",
    ),
    # Profiles end in lines of their own with counts, of microseconds and bytes: they are of other runs.
    Form.of(
        "series",
        r"^(?!.*\((?:microseconds|bytes)\)).*\bcount=\d",
        rf"count=(?P<runs>\d+)(?: first=\d+)? curr=\d+ min=(?P<min_us>\d+) max=(?P<max_us>\d+) avg={NUMBER}",
        r"count=(?P<runs>1) curr=(?P<min_us>\d+)",
    ),
    CLAIM,
    Form.of(
        "applied",
        r"Explicitly applied|is explicitly applied",
        r"Explicitly applied (?P<delegate>\S+) delegate, and the model graph will be "
        r"(?:completely|partially) executed by the delegate(?: w/ (?P<kernels>\d+) delegate kernels)?",
        r"Though (?P<refused>\S+) delegate is explicitly applied, the model graph will not be executed",
    ),
    Form.of("accelerator", r"NNAPI accelerator name\s*:", r"NNAPI accelerator name\s*:\s*\[(?P<name>[^\]]*)\]"),
    Form.of("accelerators", r"NNAPI accelerators available", r"NNAPI accelerators available: \[(?P<names>[^\]]*)\]"),
    Form.of("use", r"\bUse (?:NNAPI|GPU)\s*:", r"Use (?P<delegate>NNAPI|GPU)\s*:\s*\[(?P<on>[^\]]*)\]"),
    Form.of("size", r"input model file size \(MB\)", rf"input model file size \(MB\): (?P<file_mb>{NUMBER})"),
    Form.of("peak", r"Overall peak memory footprint", rf"footprint \(MB\) via periodic monitoring: (?P<mb>{NUMBER})"),
)


def read(file: str, text: str) -> list[LabMeasurement]:
    """The runs in a log, in order. Raises LabFileError where a line is malformed or a run has no timings."""
    return [_run(file, run) for run in _runs(understood(file, text.splitlines(), _FORMS))]


def _runs(lines: Iterator[Said]) -> Iterator[list[Said]]:
    """Lines by run: each start opens one; a log that was cut at its top opens with none."""
    run = 0

    def number(said: Said) -> int:
        nonlocal run
        run += said.kind == "start"
        return run

    for _, members in groupby(lines, key=number):
        yield list(members)


def _run(file: str, lines: Sequence[Said]) -> LabMeasurement:
    last = {said.kind: said for said in lines}
    timings = last.get("timings")
    if timings is None:
        raise LabFileError(file, "a run without its inference timings: it failed, or the log was cut", lines[-1].number)
    facts = {**(last["series"].facts if "series" in last else {}), **timings.facts}
    times = {name: float(value) for name, value in facts.items() if name in _TIMES}
    return LabMeasurement(
        Source.BENCHMARK_MODEL,
        place=f"line {timings.number}",
        latency_us=times["latency_us"],
        runs=int(facts["runs"]) if "runs" in facts else None,
        min_us=times.get("min_us"),
        max_us=times.get("max_us"),
        init_us=times["init_us"],
        first_run_us=times.get("first_run_us"),
        memory_peak_kb=round(float(last["peak"].facts["mb"]) * KB_A_MB) if "peak" in last else None,
        asked_delegate=_asked(lines),
        asked_accelerator=(last["accelerator"].facts["name"] or None) if "accelerator" in last else None,
        accelerators=_names(last["accelerators"].facts["names"]) if "accelerators" in last else (),
        claims=_claims(file, lines),
        file_mb=last["size"].facts["file_mb"] if "size" in last else None,
    )


def _names(listed: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in listed.split(",") if name.strip())


def _asked(lines: Sequence[Said]) -> str | None:
    """The delegate that the tool was told to use, None where the log does not say."""
    for said in lines:
        if said.kind == "use" and said.facts["on"] in {"1", "true"}:
            return str(said.facts["delegate"])
        if said.kind == "applied":
            return str(said.facts.get("delegate") or said.facts["refused"])
    return None


def _claims(file: str, lines: Sequence[Said]) -> tuple[Claim, ...]:
    """What TFLite said of each take-over; where its lines were not kept, what the tool said of the delegate."""
    claims = [claim for said in lines if said.kind == CLAIM.kind and (claim := claim_of(file, said)) is not None]
    if claims:
        return tuple(claims)
    applied = [said.facts for said in lines if said.kind == "applied" and "delegate" in said.facts]
    return tuple(Claim(facts["delegate"]) for facts in applied)
