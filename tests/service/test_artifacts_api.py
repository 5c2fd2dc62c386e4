"""R-B1, R-B5, RG-04: files go in by their digest, are read once apart from the web process, and never change."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

import pytest
from builders import make_model_json, make_variant
from flask.testing import FlaskClient
from operating import TOKEN, Operator
from sqlalchemy import Engine
from sqlmodel import Session

from service import clock
from service.app import create_app
from service.artifacts.registering import row_of
from service.registry.inspection import inspect_file
from service.settings import Settings
from service.store import artifacts

VECTORS = Path(__file__).parents[1] / "vectors"
WAKE_WORD = (VECTORS / "hey_jarvis.tflite").read_bytes()
FILE = bytes(range(256)) * 20
BEARER = {"Authorization": f"Bearer {TOKEN}"}


def digest(payload: bytes) -> str:
    return hashlib.sha256(payload).hexdigest()


def upload(client: FlaskClient, payload: bytes, sha256: str | None = None) -> Any:
    return client.put(f"/v1/artifacts/{sha256 or digest(payload)}", data=payload, headers=BEARER)


class TestUploading:
    def test_a_model_is_read_while_it_comes_in(self, client: FlaskClient) -> None:
        answer = upload(client, WAKE_WORD)
        assert answer.status_code == 201
        told = client.get(f"/v1/artifacts/{digest(WAKE_WORD)}/facts", headers=BEARER).get_json()
        assert (told["format"], told["precision"], told["size_bytes"]) == ("tflite", "int8", len(WAKE_WORD))
        assert told["facts"]["operations"]["CONV_2D"] == 5
        assert told["facts"]["inputs"][0]["shape"] == [1, 3, 40]

    def test_the_same_file_again_is_known(self, client: FlaskClient) -> None:
        assert [upload(client, WAKE_WORD).status_code for _ in range(2)] == [201, 200]
        listed = client.get("/v1/artifacts", headers=BEARER).get_json()["artifacts"]
        assert [row["sha256"] for row in listed] == [digest(WAKE_WORD)]

    def test_a_file_of_another_kind_is_kept_unread(self, client: FlaskClient) -> None:
        assert upload(client, b"vendor binary").get_json()["format"] is None
        assert client.get(f"/v1/artifacts/{digest(b'vendor binary')}", buffered=True).data == b"vendor binary"

    def test_bytes_with_another_digest_are_refused_and_not_kept(self, client: FlaskClient, settings: Settings) -> None:
        announced = digest(b"other bytes")
        answer = upload(client, WAKE_WORD, announced)
        assert (answer.status_code, answer.get_json()["code"]) == (422, "digest-mismatch")
        assert client.get(f"/v1/artifacts/{announced}").status_code == 404
        assert files_in(settings) == []

    def test_a_broken_model_is_refused_and_not_kept(self, client: FlaskClient, settings: Settings) -> None:
        answer = upload(client, WAKE_WORD[:9_000])
        assert (answer.status_code, answer.get_json()["code"]) == (422, "invalid-model-file")
        assert files_in(settings) == []

    def test_an_empty_file_is_refused_and_not_kept(self, client: FlaskClient, settings: Settings) -> None:
        answer = upload(client, b"")
        assert (answer.status_code, answer.get_json()["code"]) == (422, "invalid-model-file")
        assert answer.get_json()["detail"] == "the file is empty"
        assert files_in(settings) == []

    def test_a_file_over_the_limit_is_refused(self, settings: Settings, engine: Engine) -> None:
        small = Settings(settings.database_url, TOKEN, artifacts=settings.artifacts, most_artifact_bytes=10)
        answer = upload(create_app(small, engine).test_client(), b"0123456789A")
        assert (answer.status_code, answer.get_json()["code"], answer.get_json()["limit"]) == (
            413,
            "body-too-large",
            10,
        )
        assert files_in(settings) == []

    def test_a_file_that_would_fill_the_disk_waits(self, settings: Settings, engine: Engine) -> None:
        full = Settings(settings.database_url, TOKEN, artifacts=settings.artifacts, least_free_bytes=2**60)
        answer = upload(create_app(full, engine).test_client(), WAKE_WORD)
        assert (answer.status_code, answer.get_json()["code"]) == (429, "storage-full")

    def test_an_installation_without_a_store_says_so(self, settings: Settings, engine: Engine) -> None:
        client = create_app(Settings(settings.database_url, TOKEN), engine).test_client()
        assert upload(client, WAKE_WORD).get_json()["code"] == "no-artifact-store"
        assert client.get(f"/v1/artifacts/{digest(WAKE_WORD)}").status_code == 409

    def test_needs_a_key_and_leaves_a_row_in_the_audit_log(self, client: FlaskClient, operator: Operator) -> None:
        assert client.put(f"/v1/artifacts/{digest(WAKE_WORD)}", data=WAKE_WORD).status_code == 401
        upload(client, WAKE_WORD)
        upload(client, WAKE_WORD)
        rows = operator.send("GET", "/v1/audit").get_json()["audit"]
        assert [(row["action"], row["subject"]) for row in rows] == [("artifact-uploaded", digest(WAKE_WORD))]


def files_in(settings: Settings) -> list[Path]:
    return [path for path in Path(settings.artifacts or "").rglob("*") if path.is_file()]


class TestDownloading:
    """Of any file: nothing here depends on its kind."""

    PATH = f"/v1/artifacts/{digest(FILE)}"

    @pytest.fixture(autouse=True)
    def _uploaded(self, client: FlaskClient) -> None:
        upload(client, FILE)

    def test_answers_the_bytes_and_how_long_they_hold(self, client: FlaskClient) -> None:
        answer = client.get(self.PATH, buffered=True)
        assert (answer.status_code, answer.data) == (200, FILE)
        assert answer.headers["ETag"] == f'"{digest(FILE)}"'
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert answer.headers["Accept-Ranges"] == "bytes"
        stated = base64.b64encode(hashlib.sha256(FILE).digest()).decode()
        assert answer.headers["Content-Digest"] == f"sha-256=:{stated}:"

    def test_head_tells_the_size_without_the_bytes(self, client: FlaskClient) -> None:
        answer = client.head(self.PATH, buffered=True)
        assert (answer.status_code, answer.data, answer.content_length) == (200, b"", len(FILE))

    @pytest.mark.parametrize(
        ("asked", "part"),
        [("bytes=0-99", (0, 100)), ("bytes=4000-", (4_000, len(FILE))), ("bytes=-10", (-10, len(FILE)))],
        ids=["the start", "the rest", "the end"],
    )
    def test_a_download_goes_on_where_it_broke_off(
        self, client: FlaskClient, asked: str, part: tuple[int, int]
    ) -> None:
        answer = client.get(self.PATH, buffered=True, headers={"Range": asked})
        first, end, _ = slice(*part).indices(len(FILE))
        assert (answer.status_code, answer.data) == (206, FILE[first:end])
        assert answer.headers["Content-Range"] == f"bytes {first}-{end - 1}/{len(FILE)}"

    def test_a_range_of_another_file_is_answered_with_the_whole(self, client: FlaskClient) -> None:
        answer = client.get(self.PATH, buffered=True, headers={"Range": "bytes=5-9", "If-Range": f'"{digest(b"old")}"'})
        assert (answer.status_code, answer.data) == (200, FILE)

    def test_a_range_behind_the_end_is_refused(self, client: FlaskClient) -> None:
        answer = client.get(self.PATH, buffered=True, headers={"Range": "bytes=999999-"})
        assert (answer.status_code, answer.headers["Content-Range"]) == (416, f"bytes */{len(FILE)}")

    @pytest.mark.parametrize(
        "asked", ["items=0-1", "bytes=a-b", "bytes=-0", "bytes=0-0,5-6", "bytes=5-2", "bytes=-999999", "bytes="]
    )
    def test_what_is_no_single_range_of_it_is_answered_with_the_whole(self, client: FlaskClient, asked: str) -> None:
        answer = client.get(self.PATH, buffered=True, headers={"Range": asked})
        assert (answer.status_code, answer.data) == (200, FILE)

    def test_who_wants_another_version_gets_a_problem_and_not_the_file(self, client: FlaskClient) -> None:
        answer = client.get(self.PATH, buffered=True, headers={"If-Match": '"another"'})
        assert (answer.status_code, answer.get_json()["code"]) == (412, "precondition-failed")

    def test_who_has_it_gets_a_304(self, client: FlaskClient) -> None:
        assert client.get(self.PATH, buffered=True, headers={"If-None-Match": f'"{digest(FILE)}"'}).status_code == 304

    def test_an_unknown_file_and_a_malformed_digest_are_told_apart(self, client: FlaskClient) -> None:
        unknown, malformed = client.get(f"/v1/artifacts/{'0' * 64}"), client.get("/v1/artifacts/..%2Fincoming")
        assert (unknown.status_code, unknown.get_json()["code"]) == (404, "unknown-artifact")
        assert malformed.status_code == 404
        assert client.get("/v1/artifacts/ABC").get_json()["code"] == "invalid-field"


class TestDeclaring:
    """A model declared by its files: what they tell is not stated."""

    @pytest.fixture(autouse=True)
    def _registered(self, engine: Engine) -> None:
        found = inspect_file(VECTORS / "hey_jarvis.tflite")
        with Session(engine) as session, session.begin():
            artifacts.add(session, row_of(digest(WAKE_WORD), len(WAKE_WORD), found, "desk", clock.now()))

    def declare(self, operator: Operator, **variant: Any) -> Any:
        body = make_model_json(variants=[{"id": "wake", "sha256": digest(WAKE_WORD)} | variant])
        return operator.send("PUT", "/v1/models/camera/segmentation", body)

    def test_a_variant_is_named_by_its_file_alone(self, operator: Operator) -> None:
        assert self.declare(operator).status_code == 200
        (variant,) = operator.send("GET", "/v1/models/camera/segmentation").get_json()["variants"]
        assert (variant["format"], variant["precision"], variant["size_bytes"]) == ("tflite", "int8", len(WAKE_WORD))
        assert len(variant["graph"]["nodes"]) == 45
        assert variant["inputs"][0]["shape"] == [1, 3, 40]

    def test_what_is_stated_as_the_file_says_it_is_taken(self, operator: Operator) -> None:
        assert self.declare(operator, precision="int8", size_bytes=len(WAKE_WORD)).status_code == 200

    @pytest.mark.parametrize(
        ("stated", "both"),
        [
            ({"precision": "fp32"}, "'fp32' is stated, the file says 'int8'"),
            ({"format": "onnx"}, "'onnx' is stated, the file says 'tflite'"),
            ({"size_bytes": 7}, f"7 is stated, the file says {len(WAKE_WORD)}"),
            ({"graph": {"nodes": []}}, "a graph of 0 operations is stated, the file says a graph of 45 operations"),
        ],
        ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
    )
    def test_a_statement_that_the_file_contradicts_is_refused(
        self, operator: Operator, stated: dict[str, Any], both: str
    ) -> None:
        answer = self.declare(operator, **stated)
        assert (answer.status_code, answer.get_json()["field"]) == (422, f"variants.0.{next(iter(stated))}")
        assert both in answer.get_json()["detail"]

    @pytest.mark.parametrize("stated", ["tflite", "onnx"])
    def test_a_file_that_is_called_what_its_bytes_are_not_is_refused(
        self, client: FlaskClient, operator: Operator, stated: str
    ) -> None:
        page = b"<html>404, as a download that failed leaves it</html>"
        upload(client, page)
        answer = self.declare(
            operator, **make_variant("int8", sha256=digest(page), size_bytes=len(page), format=stated)
        )
        assert (answer.status_code, answer.get_json()["field"]) == (422, "variants.0.format")
        assert "the bytes of the file are no such" in answer.get_json()["detail"]

    def test_a_draft_is_completed_alike(self, operator: Operator) -> None:
        content = make_model_json(variants=[{"id": "wake", "sha256": digest(WAKE_WORD)}])
        saved = operator.send("POST", "/v1/revisions", {"kind": "model", "content": content, "note": "wake word"})
        told = operator.send("GET", f"/v1/revisions/{saved.get_json()['revision']}").get_json()
        assert told["content"]["variants"][0]["precision"] == "int8"

    def test_a_file_that_nobody_uploaded_is_stated_whole(self, operator: Operator) -> None:
        assert self.declare(operator, **make_variant("int8", sha256="0" * 64)).status_code == 200
        answer = self.declare(operator, sha256="0" * 64)
        assert (answer.status_code, answer.get_json()["field"]) == (422, "variants.0.precision")

    def test_shape_buckets_are_for_inputs_of_dynamic_size(self, operator: Operator) -> None:
        answer = self.declare(operator, shape_buckets=[[1, 3, 40]])
        assert "an input of dynamic size" in answer.get_json()["detail"]

    def test_a_model_that_was_never_declared_is_unknown(self, operator: Operator) -> None:
        assert operator.send("GET", "/v1/models/camera/other").get_json()["code"] == "unknown-model"
