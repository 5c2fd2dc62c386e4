"""R-B1: what is read from real files is what was counted in them apart from this reader (`tests/vectors/tflite_facts.json`)."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from model_wheels import wheel_file
from typer.testing import CliRunner

from service.cli.app import app as cli
from service.cli.model_inspect import told
from service.registry.apart import Bounds, inspect_apart
from service.registry.inspection import facts_of, inspect_file
from service.registry.model_file import ModelFileError
from service.registry.tflite import read_tflite

VECTORS = Path(__file__).parents[1] / "vectors"
WAKE_WORD = VECTORS / "hey_jarvis.tflite"
FILES: list[dict[str, Any]] = json.loads((VECTORS / "tflite_facts.json").read_text("utf-8"))


@pytest.mark.parametrize("row", FILES, ids=lambda row: row["file"])
def test_facts_of_a_real_file_are_those_that_were_counted(row: dict[str, Any]) -> None:
    payload = wheel_file(row["file"])
    assert (hashlib.sha256(payload).hexdigest(), len(payload)) == (row["sha256"], row["size_bytes"])
    found = facts_of(read_tflite(payload))
    assert {name: found[name] for name in row["facts"]} == row["facts"]
    for side in ("inputs", "outputs"):
        assert [{"name": t["name"], "type": t["type"]} for t in found[side]] == row[side]


def test_the_file_at_hand_is_among_them() -> None:
    digest = hashlib.sha256(WAKE_WORD.read_bytes()).hexdigest()
    (row,) = [row for row in FILES if row["sha256"] == digest]
    found = inspect_file(WAKE_WORD)
    assert found is not None
    assert {name: found.facts[name] for name in row["facts"]} == row["facts"]
    assert found.facts["nnapi_level"] == 3


class TestInAProcessOfItsOwn:
    def test_the_answer_is_the_same(self) -> None:
        assert inspect_apart(WAKE_WORD) == inspect_file(WAKE_WORD)

    def test_another_kind_of_file_is_not_read(self, tmp_path: Path) -> None:
        (tmp_path / "notes").write_text("notes")
        assert inspect_apart(tmp_path / "notes") is None

    def test_what_is_wrong_comes_back_with_its_reason(self, tmp_path: Path) -> None:
        broken = tmp_path / "broken.tflite"
        broken.write_bytes(WAKE_WORD.read_bytes()[:9_000])
        with pytest.raises(ModelFileError) as caught:
            inspect_apart(broken)
        assert caught.value.reason == "malformed"

    @pytest.mark.parametrize("bounds", [Bounds(base_bytes=1 << 20), Bounds(cpu_s=0)], ids=["memory", "time"])
    def test_a_file_that_takes_too_much_is_too_large(self, bounds: Bounds) -> None:
        with pytest.raises(ModelFileError) as caught:
            inspect_apart(WAKE_WORD, bounds)
        assert caught.value.reason == "too-large"

    def test_the_web_process_starts_without_what_reads_files_and_what_learns(self) -> None:
        says = "import sys, service.app; print(sorted({'tflite', 'onnx', 'numpy', 'sklearn'} & set(sys.modules)))"
        ran = subprocess.run([sys.executable, "-c", says], check=True, capture_output=True, text=True)
        assert ran.stdout == "[]\n"


class TestTheCommand:
    def run(self, *words: str) -> tuple[int, str]:
        ran = CliRunner().invoke(cli, ["model", "inspect", *words])
        return ran.exit_code, ran.output

    def test_prints_all_facts_as_one_document(self) -> None:
        code, said = self.run(str(WAKE_WORD), "--json")
        facts = json.loads(said)
        assert (code, facts["size_bytes"], facts["operations"]["CONV_2D"]) == (0, 52_272, 5)

    def test_prints_them_for_people(self) -> None:
        code, said = self.run(str(WAKE_WORD))
        assert code == 0
        assert "precision: int8\n" in said
        assert "  CONV_2D|int8|weights int8: 5\n" in said
        assert "inputs: serving_default_input_audio:0 int8 [1, 3, 40]\n" in said

    def test_says_what_is_wrong_with_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "notes.tflite").write_text("no model at all")
        assert self.run(str(tmp_path / "notes.tflite"))[0] == 1
        (tmp_path / "broken.tflite").write_bytes(WAKE_WORD.read_bytes()[:9_000])
        assert self.run(str(tmp_path / "broken.tflite"))[0] == 2

    def test_tells_a_kind_of_remark_once_with_the_number_of_its_places(self) -> None:
        said = {"weight": "warning", "code": "scales-differ", "advice": "give both one scale"}
        remarks = [said | {"where": f"operation {at}"} for at in (3, 5, 8)] + [said | {"code": "custom", "where": "9"}]
        assert list(told(remarks)) == [
            "warning scales-differ: operation 3, and at 2 more places: give both one scale",
            "warning custom: 9: give both one scale",
        ]
