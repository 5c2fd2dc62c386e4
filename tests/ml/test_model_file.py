"""Model files: what was learned comes back the same, and nothing else comes back at all."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from ml import model_file
from ml.array_file import Kind, ModelFileError, packed, unpacked
from ml.latency import LatencyModel
from ml.model_file import KIND, model_bytes, model_of
from ml.table import Table

THING = Kind("thing", 1, "f")


@pytest.fixture(scope="module")
def model(some_aihub: Table) -> LatencyModel:
    half = np.arange(len(some_aihub)) % 2 == 0
    return LatencyModel({"·same·": 0.9}, n_inducing=60).fit(some_aihub.take(half), universe=some_aihub)


def test_a_model_read_back_predicts_what_it_did(model: LatencyModel, some_aihub: Table) -> None:
    again = model_of(model_bytes(model))
    assert again.get_params() == model.get_params()
    for before, after in zip(
        model.predict(some_aihub, return_std=True), again.predict(some_aihub, return_std=True), strict=True
    ):
        assert np.allclose(before, after, rtol=0, atol=1e-9)


def test_a_model_read_back_learns_on(model: LatencyModel, some_aihub: Table) -> None:
    rest = some_aihub.take(np.arange(len(some_aihub)) % 2 == 1)
    again = model_of(model_bytes(model)).add(rest)
    assert np.allclose(model.add(rest).predict(some_aihub), again.predict(some_aihub), atol=1e-9)


def test_the_same_model_is_the_same_file(model: LatencyModel) -> None:
    assert model_bytes(model) == model_bytes(model_of(model_bytes(model)))


def test_a_model_that_was_not_fitted_has_no_file() -> None:
    with pytest.raises(NotFittedError):
        model_bytes(LatencyModel())


def test_a_file_of_another_version_is_refused(model: LatencyModel, monkeypatch: pytest.MonkeyPatch) -> None:
    old = model_bytes(model)
    monkeypatch.setattr(model_file, "KIND", replace(KIND, version=2))
    with pytest.raises(ModelFileError, match="of version 1, this program reads nnfleet-latency-model of version 2"):
        model_of(old)


def test_a_file_made_with_other_features_is_refused() -> None:
    other = packed(replace(THING, features="g"), {}, {})
    with pytest.raises(ModelFileError, match="other features"):
        unpacked(other, THING)


@pytest.mark.parametrize("kept", [0, 10, 0.5, 0.99])
def test_a_file_cut_short_is_refused(model: LatencyModel, kept: float) -> None:
    whole = model_bytes(model)
    with pytest.raises(ModelFileError, match="not a whole model file"):
        model_of(whole[: int(kept * len(whole)) if isinstance(kept, float) else kept])


def test_a_file_with_a_pickle_in_it_is_refused_unread() -> None:
    target = io.BytesIO()
    np.savez(target, header=np.array([{"kind": "thing"}], dtype=object))
    with pytest.raises(ModelFileError, match="not a whole model file"):
        unpacked(target.getvalue(), THING)


@pytest.mark.parametrize("entry", ["header.npy", "seal.npy", "numbers.npy"])
def test_a_changed_entry_is_refused(entry: str) -> None:
    content = packed(THING, {"a": 1}, {"numbers": np.arange(5.0)})
    with pytest.raises(ModelFileError, match="was changed"):
        unpacked(with_entry_changed(content, entry), THING)


def test_an_array_more_or_less_is_refused() -> None:
    content = packed(THING, {}, {"numbers": np.arange(5.0), "more": np.arange(2)})
    with pytest.raises(ModelFileError, match="added or lost"):
        unpacked(without_entry(content, "more.npy"), THING)


def with_entry_changed(content: bytes, entry: str) -> bytes:
    """The archive with the last byte of an entry flipped, its own checksum made right again."""
    return rewritten(content, lambda name, data: data[:-1] + bytes([data[-1] ^ 1]) if name == entry else data)


def without_entry(content: bytes, entry: str) -> bytes:
    return rewritten(content, lambda name, data: None if name == entry else data)


def rewritten(content: bytes, change: Callable[[str, bytes], bytes | None]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            data = change(name, old.read(name))
            if data is not None:
                new.writestr(name, data)
    return target.getvalue()
