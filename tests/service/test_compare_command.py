"""`nnfleet compare`: what an update changed, at a desk."""

from __future__ import annotations

import json
from pathlib import Path

from builders import EDGETPU, REFERENCE, make_report, nnapi
from typer.testing import CliRunner, Result

from service.cli.app import app


def compared(folder: Path, after: bytes, *options: str) -> Result:
    before_file, after_file = folder / "before.json", folder / "after.json"
    before_file.write_bytes(make_report())
    after_file.write_bytes(after)
    arguments = ["compare", str(before_file), str(after_file), *options]
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "400", "NO_COLOR": "1"})


def test_an_update_is_told_line_by_line_and_as_json(tmp_path: Path) -> None:
    update = make_report(nnapi=nnapi({**EDGETPU, "version": "2.1"}, REFERENCE))
    lines = compared(tmp_path, update).output.splitlines()
    assert lines == [
        "class: another one",
        "driver stack: another one",
        "new: none",
        "gone: none",
        "caches void: nnapi.google-edgetpu",
        '/accelerators/google-edgetpu/driver_version: "2.0" → "2.1"',
    ]
    told = json.loads(compared(tmp_path, update, "--json").output)
    assert told["void_caches"] == ["nnapi.google-edgetpu"]
    assert told["changes"] == [{"path": "/accelerators/google-edgetpu/driver_version", "before": "2.0", "after": "2.1"}]


def test_what_is_no_report_is_refused_with_its_file(tmp_path: Path) -> None:
    result = compared(tmp_path, b"{}")
    assert result.exit_code == 2
    assert "after.json" in result.output
