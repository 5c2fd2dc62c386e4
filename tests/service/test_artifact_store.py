"""R-B5: what keeps files, a folder or an object store, and how bytes come in. Both stores keep the same promises."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from moto.server import ThreadedMotoServer
from operating import TOKEN
from sqlalchemy import Engine

from policies.errors import BodyTooLarge, DigestMismatch
from service import clock
from service.app import create_app
from service.artifacts.receiving import received
from service.artifacts.store import ArtifactStore, UnknownArtifact, open_store
from service.settings import Settings

PAYLOAD = b"weights" * 1_000
DIGEST = hashlib.sha256(PAYLOAD).hexdigest()
NOTHING = "0" * 64


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """A bucket in a real S3 server on this machine; where it is, the environment says, as in production."""
    server = ThreadedMotoServer(port=0)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        environment.setenv("AWS_ACCESS_KEY_ID", "key")
        environment.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        environment.setenv("AWS_DEFAULT_REGION", "us-east-1")
        import fsspec

        fsspec.filesystem("s3").mkdir("models")
        yield "s3://models/nnfleet"
    server.stop()


@pytest.fixture(params=["folder", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ArtifactStore:
    return open_store(str(tmp_path / "kept") if request.param == "folder" else request.getfixturevalue("bucket"))


def keep(store: ArtifactStore, payload: bytes = PAYLOAD) -> str:
    digest = hashlib.sha256(payload).hexdigest()
    with received(Pieces(payload).read, digest, store.incoming, len(payload)) as file:
        store.keep(digest, file)
    return digest


class Pieces:
    """A body that comes a few bytes at a time."""

    def __init__(self, payload: bytes, piece: int = 999) -> None:
        self.left, self._piece = payload, piece

    def read(self, size: int) -> bytes:
        taken = min(self._piece, size)
        piece, self.left = self.left[:taken], self.left[taken:]
        return piece


def test_a_file_comes_back_as_it_went_in(store: ArtifactStore) -> None:
    keep(store)
    assert store.size_bytes(DIGEST) == len(PAYLOAD)
    with store.open(DIGEST) as file:
        assert file.seek(7) == 7
        assert file.read(7) == b"weights"
        file.seek(0)
        assert file.read() == PAYLOAD


def test_keeping_it_twice_keeps_it_once(store: ArtifactStore) -> None:
    assert keep(store) == keep(store)
    (found,) = store.kept()
    assert (found.sha256, found.size_bytes) == (DIGEST, len(PAYLOAD))
    assert abs(clock.now() - found.kept_at) < timedelta(minutes=5)


def test_what_was_removed_is_unknown(store: ArtifactStore) -> None:
    keep(store)
    store.remove(DIGEST)
    store.remove(DIGEST)
    for ask in (store.open, store.size_bytes):
        with pytest.raises(UnknownArtifact):
            ask(DIGEST)
    assert list(store.kept()) == []


def test_another_file_is_left_alone(store: ArtifactStore) -> None:
    keep(store)
    other = keep(store, b"other")
    store.remove(DIGEST)
    assert [found.sha256 for found in store.kept()] == [other]
    store.remove(other)


def test_the_service_keeps_files_in_an_object_store(bucket: str, settings: Settings, engine: Engine) -> None:
    client = create_app(replace(settings, artifacts=bucket), engine).test_client()
    path, bearer = f"/v1/artifacts/{DIGEST}", {"Authorization": f"Bearer {TOKEN}"}
    assert client.put(path, data=PAYLOAD, headers=bearer).status_code == 201
    assert client.get(path, buffered=True).data == PAYLOAD
    part = client.get(path, headers={"Range": "bytes=7-13"}, buffered=True)
    assert (part.status_code, part.data) == (206, b"weights")
    open_store(bucket).remove(DIGEST)
    assert client.get(path).status_code == 404


def test_a_body_over_the_limit_is_not_read_to_its_end(tmp_path: Path) -> None:
    body = Pieces(bytes(100_000))
    with pytest.raises(BodyTooLarge), received(body.read, NOTHING, tmp_path, 2_000):
        pass
    assert len(body.left) > 90_000
    assert list(tmp_path.iterdir()) == []


def test_bytes_with_another_digest_leave_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(DigestMismatch), received(Pieces(PAYLOAD).read, NOTHING, tmp_path, 10_000):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_body_that_breaks_off_leaves_nothing_behind(tmp_path: Path) -> None:
    def read(_size: int) -> bytes:
        raise TimeoutError

    with pytest.raises(TimeoutError), received(read, DIGEST, tmp_path, 10_000):
        pass
    assert list(tmp_path.iterdir()) == []
