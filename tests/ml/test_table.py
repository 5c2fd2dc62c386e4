"""The tidy table: reading, errors that name the place, and the subset on which arms can be compared."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ml.table import Table, TableError, arm_part, arm_path, concatenate, decision_subset, read_table


def make_table(**columns: list[object]) -> Table:
    rows = len(next(iter(columns.values()))) if columns else 2
    given = {"chipset": ["c"] * rows, "model": ["m"] * rows, "arm": [f"int8.tflite.a{n}" for n in range(rows)]}
    return Table.of({**given, "latency_ms": [1.0 + n for n in range(rows)], **columns})


def test_a_csv_without_a_latency_column_is_refused_by_that_name(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("chipset,model,arm\nc,m,a\n")
    with pytest.raises(TableError, match="missing column 'latency_ms'; it holds chipset, model, arm"):
        read_table(path)


@pytest.mark.parametrize("value", ["-1", "0", "nan", "inf"])
def test_a_latency_that_is_no_positive_number_is_refused_with_its_row(tmp_path: Path, value: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"chipset,model,arm,latency_ms\nc,m,a,1.5\nc,m,b,{value}\n")
    with pytest.raises(TableError, match="row 2: latency_ms is no positive number"):
        read_table(path)


def test_a_word_where_a_number_belongs_is_refused_with_row_and_value(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("chipset,model,arm,latency_ms\nc,m,a,1.5\nc,m,b,fast\n")
    with pytest.raises(TableError, match="row 2: latency_ms is no number: 'fast'"):
        read_table(path)


def test_an_empty_key_is_refused_with_its_row(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("chipset,model,arm,latency_ms\nc,m,a,1.5\nc,,b,2\n")
    with pytest.raises(TableError, match="row 2: model is empty"):
        read_table(path)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_text("chipset")
    with pytest.raises(TableError, match=r"neither \.csv nor \.parquet"):
        read_table(path)


def test_a_file_that_is_not_what_its_name_says_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    path.write_text("chipset")
    with pytest.raises(TableError, match="cannot be read"):
        read_table(path)


def test_a_csv_and_its_table_agree_on_optional_columns(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(
        "chipset,model,arm,latency_ms,params,chip_year,chip_vendor,note\nc,m,a,1.5,10,2024,x,hi\nc,m,b,2,,,,\n"
    )
    table = read_table(path)
    assert table.number["params"][0] == 10
    assert np.isnan(table.number["params"][1])
    assert table.number["chip_year"][0] == 2024
    assert table.text["chip_vendor"].tolist() == ["x", ""]
    assert "note" not in table.columns


def test_parts_of_an_arm_come_from_its_id_unless_a_column_says_them() -> None:
    table = make_table(arm=["int8.tflite.nnapi.google-edgetpu", "mine"], precision=["", "fp32"])
    assert arm_part(table, "precision").tolist() == ["int8", "fp32"]
    assert arm_part(table, "delegate").tolist() == ["nnapi", ""]
    assert arm_path(table).tolist() == ["tflite.nnapi.google-edgetpu", ""]


def test_units_with_one_arm_leave_no_choice_and_are_dropped() -> None:
    table = make_table(chipset=["x", "x", "y"], arm=["a.tflite.q", "b.tflite.q", "a.tflite.q"])
    assert set(decision_subset(table).chipset.tolist()) == {"x"}


def test_of_several_rows_of_a_cell_the_fastest_stays() -> None:
    table = make_table(arm=["a.tflite.q", "a.tflite.q", "b.tflite.q"], latency_ms=[5.0, 3.0, 4.0])
    assert decision_subset(table).latency_ms.tolist() == [3.0, 4.0]


def test_formats_that_no_app_chooses_are_left_out() -> None:
    table = make_table(chipset=["x"] * 4, arm=["a", "b", "c", "d"], format=["tflite", "dlc", "voice-ai", "genie"])
    assert decision_subset(table).arm.tolist() == ["a", "b"]


def test_joining_tables_fills_what_one_lacks_with_unknown() -> None:
    both = concatenate(make_table(family=["f", "g"]), make_table(params=[1.0, 2.0]))
    assert both.text["family"].tolist() == ["f", "g", "", ""]
    assert np.isnan(both.number["params"][:2]).all()
    assert both.number["params"][2:].tolist() == [1.0, 2.0]


def test_columns_of_unequal_length_are_refused() -> None:
    with pytest.raises(TableError, match="differ in length"):
        Table.of({"chipset": ["a"], "model": ["m", "m"], "arm": ["x"]})
