"""Files that benchmark tools wrote → measurements, with units; a malformed line is named (R-D8)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ml.datasets.lab import Claim, LabFileError, LabMeasurement, Source, read
from tests.ml.lab_logs import FALLBACK_LOG, LITERT_LOG, NPU_LOG, OLD_CPU_LOG, PERF_YAML, PROFILE_CSV


def only(text: str, device: str | None = None) -> LabMeasurement:
    (found,) = read("lab.txt", text.encode(), device)
    return found


def test_a_log_of_benchmark_model_tells_who_was_asked_and_how_long_it_took() -> None:
    assert only(NPU_LOG) == LabMeasurement(
        Source.BENCHMARK_MODEL,
        place="line 15",
        latency_us=12749.1,
        runs=78,
        min_us=10196,
        max_us=16003,
        init_us=371513,
        first_run_us=12629,
        memory_peak_kb=12_800,
        asked_delegate="NNAPI",
        asked_accelerator="qti-dsp",
        accelerators=("qti-default", "qti-dsp", "qti-gpu", "nnapi-reference"),
        claims=(Claim("TfLiteNnapiDelegate", 64, 64, 1),),
        file_mb="10.6132",
    )


def test_both_wordings_of_a_take_over_are_read() -> None:
    assert only(FALLBACK_LOG).claims == (
        Claim("TfLiteNnapiDelegate", 5, 64, 5),
        Claim("TfLiteXNNPackDelegate", 59, 62, 5),
    )
    assert only(OLD_CPU_LOG).claims == (Claim("TfLiteXNNPackDelegate", 211, None, 43),)
    qnn = "TfLiteQnnDelegate delegate: 0 nodes delegated out of 31 nodes with 0 partitions.\n"
    assert only(qnn + OLD_CPU_LOG).claims[0] == Claim("TfLiteQnnDelegate", 0, 31, 0)


def test_the_older_timings_and_a_single_run_are_read_through_the_prefixes_of_logcat() -> None:
    found = only(OLD_CPU_LOG)
    assert (found.init_us, found.latency_us, found.first_run_us) == (21_528_106, 23_313.5, None)
    assert (found.runs, found.min_us) == (1, 1_381_510)


def test_a_log_without_take_overs_believes_what_the_tool_says_of_the_delegate() -> None:
    timings = "Inference timings in us: Init: 1, First inference: 2, Warmup (avg): 3, Inference (avg): 1e+04\n"
    partly = "Explicitly applied NNAPI delegate, and the model graph will be partially executed by the delegate w/ 44 delegate kernels.\n"
    not_at_all = "Though NNAPI delegate is explicitly applied, the model graph will not be executed by the delegate.\n"
    assert only(partly + timings).claims == (Claim("NNAPI"),)
    assert (only(not_at_all + timings).claims, only(not_at_all + timings).asked_delegate) == ((), "NNAPI")
    assert only(partly + timings).latency_us == 10_000


def test_a_file_with_several_runs_holds_a_measurement_of_each() -> None:
    both = read("two.txt", (NPU_LOG + NPU_LOG.replace("12749.1", "13000")).encode())
    assert [one.latency_us for one in both] == [12749.1, 13_000]
    assert [one.place for one in both] == ["line 15", "line 32"]


def test_litert_states_milliseconds() -> None:
    found = only(LITERT_LOG)
    assert (found.init_us, found.first_run_us, found.latency_us) == (5760, 2120, 950)
    assert (found.min_us, found.max_us, found.runs, found.memory_peak_kb) == (910, 1100, 1054, None)
    assert found.claims == (Claim("TfLiteXNNPackDelegate", 470, 476, 7),)


def test_a_run_of_a_profile_takes_what_its_operations_take_once() -> None:
    found = only(PROFILE_CSV)
    assert (found.latency_us, found.init_us, found.runs) == (10_250, 1500, 1)
    assert found.claims == (Claim("TfLiteNnapiDelegate"),)


def test_a_perf_file_gives_the_jobs_of_the_device_that_is_meant() -> None:
    found = only(PERF_YAML, "Galaxy S24")
    assert (found.latency_us, found.precision, found.format, found.memory_peak_kb) == (2500, "int8", "tflite", 7168)
    assert found.claims == (Claim("qnn", 9, 10), Claim("gpu", 0, 10))
    assert only(PERF_YAML, "Pixel 9").claims == (Claim("unstated"),)
    on_the_cpu = PERF_YAML.replace("job_id: j3", "job_id: j3, primary_compute_unit: CPU")
    assert only(on_the_cpu, "Pixel 9").claims == ()


@pytest.mark.parametrize(
    ("text", "device", "says"),
    [
        (NPU_LOG.replace("Init: 371513", "Init: fast"), None, "lab.txt, line 15: a line of timings in a form that is not known"),
        (NPU_LOG.replace("Replacing 64 out", "Replacing 65 out"), None, "lab.txt, line 8: 65 nodes out of 64"),
        (NPU_LOG.replace("Inference timings", "No timings"), None, "without its inference timings"),
        (LITERT_LOG.replace("0.95 ms (1054 runs)", "0.95 s"), None, "lab.txt, line 7"),
        (LITERT_LOG + LITERT_LOG, None, "lab.txt, line 15: a second run"),
        (PROFILE_CSV.replace("8, 8.25, 80%, 80%, 0, 1, [a", "8, slow, 80%, 80%, 0, 1, [a"), None, "lab.txt, line 9"),
        (PROFILE_CSV.partition("Operator-wise")[0], None, "no operations of regular runs"),
        (PERF_YAML, None, "say which device is meant; there is Galaxy S24, Pixel 9"),
        (PERF_YAML, "galaxy s23", "did you mean `Galaxy S24`?"),
        (PERF_YAML.replace("components:", "components: ["), "Pixel 9", "lab.txt, line 5: no YAML"),
        (PERF_YAML.replace("layer_counts: {", "layer_counts: 3, more: {"), "Galaxy S24", "unknown layout"),
        (PERF_YAML + PERF_YAML.partition("components:\n")[2].replace("Net", "Head"), "Pixel 9", "(Head, Net)"),
        ("nothing of the kind", None, "neither a benchmark's log"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named_with_file_and_place(text: str, device: str | None, says: str) -> None:
    with pytest.raises(LabFileError) as refused:
        read("lab.txt", text.encode(), device)
    assert says in str(refused.value)


LINES = (NPU_LOG + FALLBACK_LOG + LITERT_LOG + PROFILE_CSV + PERF_YAML).splitlines(keepends=True)


@given(st.lists(st.sampled_from(LINES)), st.binary(max_size=20))
def test_any_shuffle_of_lines_is_read_or_refused_and_never_breaks(lines: list[str], noise: bytes) -> None:
    content = "".join(lines).encode() + noise
    try:
        found = read("lab.txt", content, "Pixel 9")
    except LabFileError as refused:
        found, named = [], refused.file
    else:
        named = "lab.txt"
    assert named == "lab.txt"
    assert all(one.latency_us >= 0 for one in found)
