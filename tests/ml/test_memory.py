"""From run to run: variances are kept while a population stays as it was, and fitted anew once it has grown."""

from __future__ import annotations

import numpy as np
import pytest

from ml.array_file import ModelFileError
from ml.memory import Memory
from ml.table import Table
from ml.variances import FROZEN


@pytest.fixture(scope="module")
def first(some_aihub: Table) -> Memory:
    memory = Memory()
    memory.variances(some_aihub.take(np.arange(120)), 0)
    return memory


def test_the_first_run_fits_and_the_next_one_takes_over(first: Memory, some_aihub: Table) -> None:
    fitted = first.now[0].variances
    assert fitted != dict(FROZEN)
    again = Memory.of(first.to_bytes())
    assert again.variances(some_aihub.take(np.arange(130)), 0) == fitted
    assert again.to_json() == {"populations": 1, "kept": 1}
    assert Memory.of(again.to_bytes()).before == tuple(first.now)


def test_a_population_that_has_grown_is_fitted_anew(first: Memory, some_aihub: Table) -> None:
    again = Memory.of(first.to_bytes())
    assert again.variances(some_aihub.take(np.arange(145)), 0) != first.now[0].variances
    assert again.to_json() == {"populations": 1, "kept": 0}


def test_another_population_takes_nothing_over(first: Memory, some_aihub: Table) -> None:
    again = Memory.of(first.to_bytes())
    others = some_aihub.take(~np.isin(some_aihub.chipset, sorted(first.now[0].classes)))
    again.variances(others.take(np.arange(20)), 0)
    assert again.kept == 0


def test_an_empty_run_leaves_a_file_too() -> None:
    assert Memory.of(Memory().to_bytes()).before == ()


def test_a_file_that_was_cut_is_refused(first: Memory) -> None:
    with pytest.raises(ModelFileError, match="not a whole model file"):
        Memory.of(first.to_bytes()[:-40])
