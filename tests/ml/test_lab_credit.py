"""Who a lab measurement is credited to, and what is kept without being learned from (R-D1, R-D8)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import EDGETPU, REFERENCE, chain, make_fingerprint, make_model, make_variant, nnapi

from ml.datasets.lab import Claim, LabFileError, LabMeasurement, Source
from ml.datasets.lab.credit import Credited, NotLearned, credited
from ml.datasets.lab.variant import variant_of
from ml.lab_cells import filled
from ml.rollup import Cell, CellSummary

MODEL = make_model()
INT8 = MODEL.variants[0]
PHONE = make_fingerprint()
NPU = "int8.tflite.nnapi.google-edgetpu"
RUN = LabMeasurement(Source.BENCHMARK_MODEL, "line 1", 4_000.0)


def credit(*claims: Claim, **facts: object) -> Credited:
    return credited(replace(RUN, claims=claims, **facts), INT8, PHONE, MODEL)  # type: ignore[arg-type]


NNAPI, XNNPACK = Claim("TfLiteNnapiDelegate", 4, 4, 1), Claim("TfLiteXNNPackDelegate", 4, 4, 1)


def test_the_accelerator_that_took_the_graph_is_credited() -> None:
    assert credit(NNAPI, asked_accelerator="google-edgetpu") == Credited(
        "TfLiteNnapiDelegate:google-edgetpu", NPU, None
    )
    assert credit(Claim("NNAPI"), accelerators=("google-edgetpu", "nnapi-reference")).arm == NPU


def test_the_cpu_is_credited_where_the_delegate_that_was_asked_took_nothing() -> None:
    nothing = Claim("TfLiteNnapiDelegate", 0, 4, 0)
    assert credit(nothing, XNNPACK, asked_accelerator="google-edgetpu").arm == "int8.tflite.cpu"
    assert credit(asked_delegate="NNAPI") == Credited("TFLite's own kernels", "int8.tflite.cpu", None)


@pytest.mark.parametrize(
    ("claims", "facts", "reason"),
    [
        ((Claim("TfLiteNnapiDelegate", 5, 64, 5), XNNPACK), {"asked_accelerator": "google-edgetpu"}, NotLearned.MIXED_EXECUTORS),
        ((NNAPI,), {"asked_accelerator": "nnapi-reference"}, NotLearned.REFERENCE_CPU),
        ((NNAPI,), {"accelerators": ("nnapi-reference",)}, NotLearned.REFERENCE_CPU),
        ((NNAPI,), {"accelerators": ("google-edgetpu", "google-armnn")}, NotLearned.ACCELERATOR_NOT_NAMED),
        ((NNAPI,), {"asked_accelerator": "mtk-neuron"}, NotLearned.ARM_NOT_ON_DEVICE),
        ((Claim("DispatchDelegate", 4, 4, 1),), {}, NotLearned.UNKNOWN_EXECUTOR),
        ((XNNPACK,), {"latency_us": 3.0}, NotLearned.OUT_OF_RANGE),
    ],
)  # fmt: skip
def test_what_is_not_learned_from_says_why(
    claims: tuple[Claim, ...], facts: dict[str, object], reason: NotLearned
) -> None:
    assert credit(*claims, **facts).reason is reason


def test_an_emulator_teaches_nothing() -> None:
    emulator = make_fingerprint(device={"product": "sdk_gphone64"}, nnapi=nnapi(EDGETPU, REFERENCE))
    assert credited(replace(RUN, claims=(XNNPACK,)), INT8, emulator, MODEL).reason is NotLearned.POPULATION


def test_the_file_that_ran_is_told_by_name_by_what_it_is_or_by_its_size() -> None:
    assert variant_of("x", RUN, MODEL, "seg-fp32-tflite").precision == "fp32"
    assert variant_of("x", replace(RUN, precision="int8", format="tflite"), MODEL, None) is INT8
    large = make_model(
        variants=[make_variant("int8", size_bytes=10_613_210), make_variant("fp32", graph=chain().to_json())]
    )
    assert variant_of("x", replace(RUN, file_mb="10.6132"), large, None).precision == "int8"


def test_a_file_that_could_be_several_is_asked_for() -> None:
    with pytest.raises(LabFileError, match="which file ran, of 2 that fit"):
        variant_of("x", replace(RUN, file_mb="0.001"), MODEL, None)
    with pytest.raises(LabFileError, match="no variant is called 'other'"):
        variant_of("x", RUN, MODEL, "other")


def test_a_lab_fills_what_the_fleet_has_not_measured_and_changes_nothing_else() -> None:
    measured, failed, new = (Cell("stack", "camera", "segmentation", arm) for arm in ("a", "b", "c"))
    fleet = {
        measured: CellSummary(measured, 40, 8.0, 3, 0, 0, 40),
        failed: CellSummary(failed, 0, 0.0, 0, 0, 9, 10),
    }
    cells = filled(fleet, [(measured, 1_000.0), (failed, 2_000.0), (new, 100.0), (new, 400.0)])
    assert cells[measured] == fleet[measured]
    assert (cells[failed].measured, cells[failed].failures, cells[failed].starts) == (1, 9, 10)
    assert (cells[new].measured, cells[new].starts) == (1, 0)
    assert cells[new].log_p50_us == pytest.approx(5.2983, abs=1e-3)
