"""AI Hub's wheel → the tidy table: copies dropped, the chipset that ran it, and the counts that were published."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from ml.datasets import aihub as reader
from ml.table import Table
from tests.ml.conftest import AIHUB

DEVICES = """
devices:
  Real Phone: {chipset: chip-a, os: {ostype: Android}}
  Twin Board: {chipset: chip-b, reference_chipset: chip-a, os: {ostype: Linux}}
chipsets:
  chip-a: {htp_version: 75, supports_fp16: true, world: Mobile}
  chip-b: {htp_version: 75, world: IoT}
"""
PERF = """
precisions:
  w8a8:
    components:
      Net:
        performance_metrics:
          Twin Board:
            tflite: &job {inference_time_milliseconds: 2.5, job_id: j1, job_status: Passed,
                          layer_counts: {npu: 9, total: 10}, estimated_peak_memory_range_mb: {min: 1, max: 7}}
          Real Phone:
            tflite: *job
            genie: {llm_metrics: []}
"""
MANIFEST = """
use_case: Pose Estimation
technical_details: {Number of parameters (a): 3.49M, Number of parameters (b): 10K}
"""
NUMERICS = """
metrics:
- partial_torch_metric: 20.0
  higher_is_better: false
  device_metric: {Real Phone: {w8a8: {tflite: {partial_metric: 21.0}}}}
"""


def make_wheel(path: Path, **replaced: str | None) -> Path:
    files = {
        "devices_and_chipsets.yaml": DEVICES,
        "models/yolov8_seg/perf.yaml": PERF,
        "models/yolov8_seg/manifest.yaml": MANIFEST,
        "models/yolov8_seg/numerics.yaml": NUMERICS,
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (files | replaced).items():
            if content is not None:
                archive.writestr(f"qai_hub_models/{name}", content)
    return path


def test_a_job_named_by_two_devices_is_kept_once_under_the_chipset_that_ran_it(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path / "qai_hub_models-1.2.3-py3-none-any.whl")
    out = tmp_path / "out.parquet"
    assert reader.write(wheel, out) == 1
    table = pq.read_table(out)
    row = table.to_pylist()[0]
    assert (row["chipset"], row["device"], row["world"]) == ("chip-a", "Real Phone", "Mobile")
    assert (row["arm"], row["latency_ms"], row["coverage"]) == ("int8.tflite.qnn", 2.5, pytest.approx(0.9))
    assert (row["family"], row["task"], row["params"]) == ("yolo", "Pose Estimation", 3.5e6)
    assert row["accuracy_drop"] == pytest.approx(0.05)  # an error rate that rises is a loss
    assert table.schema.metadata[b"version"] == b"1.2.3"
    assert table.schema.metadata[b"rows_copied"] == b"1"


@pytest.mark.parametrize(
    "replaced",
    [
        {"devices_and_chipsets.yaml": None},
        {"models/yolov8_seg/perf.yaml": None},
        {"models/yolov8_seg/perf.yaml": "models: []"},
        {"models/yolov8_seg/perf.yaml": "- a list"},
    ],
)
def test_a_wheel_of_another_layout_is_refused(tmp_path: Path, replaced: dict[str, str | None]) -> None:
    wheel = make_wheel(tmp_path / "w.whl", **replaced)
    with pytest.raises(reader.WheelLayoutError):
        list(reader.rows(reader.open_wheel(wheel)))


def test_the_command_names_a_file_that_is_no_wheel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.whl"
    path.write_text("no zip")
    assert reader.main(["--wheel", str(path), "--out", str(tmp_path / "o")]) == 1
    assert "is not a wheel" in capsys.readouterr().err


def test_the_command_writes_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wheel = make_wheel(tmp_path / "w.whl")
    assert reader.main(["--wheel", str(wheel), "--out", str(tmp_path / "o.parquet")]) == 0
    assert capsys.readouterr().out.startswith("1 rows")


def test_the_committed_table_has_every_distinct_job_and_its_notice() -> None:
    table = pq.read_table(AIHUB)
    metadata = table.schema.metadata
    assert table.num_rows == 14_318
    assert (metadata[b"rows_published"], metadata[b"rows_copied"]) == (b"19310", b"4992")
    assert metadata[b"licence"].startswith(b"BSD-3-Clause")
    assert AIHUB.stat().st_size < 1_000_000


def test_the_decision_subset_has_the_units_with_a_choice(aihub: Table) -> None:
    names = [len(np.unique(column)) for column in (aihub.chipset, aihub.arm)]
    assert (len(aihub), int(aihub.units().max()) + 1, *names) == (12_355, 3_042, 17, 28)
