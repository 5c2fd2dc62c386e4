"""R-B5: files that nothing names go after a while; all others stay, whatever became of the model that names them."""

from __future__ import annotations

import hashlib
import os
from datetime import timedelta
from pathlib import Path

import pytest
from builders import make_model_json, make_variant
from operating import Operator
from sqlalchemy import Engine
from tflite_builder import one_operation

from service import clock
from service.artifacts.receiving import PREFIX
from service.artifacts.registering import register
from service.artifacts.store import ArtifactStore, UnknownArtifact, open_store
from service.jobs.jobs import BY_NAME
from service.jobs.prune import GRACE, UPLOAD_TAKES, prune
from service.jobs.run import figures_of
from service.settings import Settings

LATER = timedelta(hours=1)


@pytest.fixture
def store(settings: Settings) -> ArtifactStore:
    return open_store(str(settings.artifacts))


def uploaded(engine: Engine, store: ArtifactStore, payload: bytes) -> str:
    """A file that was taken in now."""
    sha256, file = hashlib.sha256(payload).hexdigest(), store.incoming / "upload"
    file.write_bytes(payload)
    register(engine, store, sha256, file, "desk", clock.now())
    return sha256


def test_a_file_that_no_revision_names_goes_after_the_grace(engine: Engine, store: ArtifactStore) -> None:
    sha256 = uploaded(engine, store, b"unused")
    assert figures_of(prune(engine, store, clock.now() + GRACE - LATER))["unused"] == 0
    assert store.size_bytes(sha256) == 6
    assert figures_of(prune(engine, store, clock.now() + GRACE + LATER))["unused"] == 1
    with pytest.raises(UnknownArtifact):
        store.size_bytes(sha256)
    assert uploaded(engine, store, b"unused") == sha256
    assert store.size_bytes(sha256) == 6


def test_files_of_variants_and_golden_references_stay_also_of_old_revisions(
    engine: Engine, store: ArtifactStore, operator: Operator
) -> None:
    files = one_operation(0), one_operation(1)
    old, new, inputs, outputs = (uploaded(engine, store, payload) for payload in (*files, b"inputs", b"outputs"))
    golden = {"input_sha256": inputs, "output_sha256": outputs, "tolerance": 0.1}
    for sha256, payload in zip((old, new), files, strict=True):
        variants = [make_variant("fp32", sha256=sha256, size_bytes=len(payload))]
        model = make_model_json(variants=variants, golden=golden)
        assert operator.send("PUT", "/v1/models/camera/segmentation", model).status_code == 200
    figures = figures_of(prune(engine, store, clock.now() + 2 * GRACE))
    assert figures == {"unused": 0, "strays": 0, "broken_off": 0}
    assert {found.sha256 for found in store.kept()} == {old, new, inputs, outputs}


def test_what_a_killed_process_left_goes_too(engine: Engine, store: ArtifactStore) -> None:
    broken_off = store.incoming / f"{PREFIX}half"
    broken_off.write_bytes(b"half")
    (store.incoming / "whole").write_bytes(b"whole")
    store.keep("a" * 64, store.incoming / "whole")
    late = (clock.now() - UPLOAD_TAKES - LATER).timestamp()
    os.utime(broken_off, (late, late))
    figures = figures_of(prune(engine, store, clock.now() + GRACE + LATER))
    assert figures == {"unused": 0, "strays": 1, "broken_off": 1}
    assert not Path(broken_off).exists()


def test_the_worker_prunes_where_there_is_a_place_for_files(engine: Engine, settings: Settings) -> None:
    steps = BY_NAME["prune"].steps
    assert figures_of(steps(engine, Settings(settings.database_url), clock.now())) == {}
    assert figures_of(steps(engine, settings, clock.now()))["unused"] == 0
