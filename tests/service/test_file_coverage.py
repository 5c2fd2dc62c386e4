"""R-B2: coverage of a file on disk, as the command line prints it."""

import json
from pathlib import Path
from typing import Any

import pytest

from service.registry.file_coverage import coverage_of_file, parse_keys
from service.registry.model_file import ModelFileError

VECTORS = Path(__file__).parents[1] / "vectors"
FILE = VECTORS / "hey_jarvis.tflite"
ROWS = [
    row
    for row in json.loads((VECTORS / "litert_partitions.json").read_text("utf-8"))
    if row["file"].startswith("pymicro_wakeword") and row["file"].endswith("/hey_jarvis.tflite")
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "+".join(row["unsupported"]) or "all supported")
def test_the_file_itself_has_litert_s_partitions(row: dict[str, Any]) -> None:
    found = coverage_of_file(FILE, ",".join(row["unsupported"]))
    assert {key: found[key] for key in ("nodes", "supported_nodes", "partition_sizes")} == {
        key: row[key] for key in ("nodes", "supported_nodes", "partition_sizes")
    }


def test_the_answer_is_plain_json() -> None:
    found = coverage_of_file(FILE, "LOGISTIC|int8")
    assert json.loads(json.dumps(found)) == found
    assert found["blockers"]["LOGISTIC|int8"] == 1


def test_keys_may_stand_apart() -> None:
    assert parse_keys(" PRELU|float32 , ADD|int8,") == {"PRELU|float32", "ADD|int8"}


@pytest.mark.parametrize("text", ["PRELU", "PRELU|", "|float32"])
def test_a_key_without_an_element_type_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="OPERATION"):
        parse_keys(text)


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "notes.tflite"
    other.write_text("not a model")
    with pytest.raises(ModelFileError, match="TFL3"):
        coverage_of_file(other, "")
