"""Signatures, as the device side checks them; keys that rotate (R-F5)."""

from __future__ import annotations

import json
import stat
from hashlib import sha256
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from operating import Operator
from sqlalchemy import Engine
from typer.testing import CliRunner

from nnfleet_client.seal import Seal
from policies.errors import NotKnown
from service.app import create_app
from service.cli import main
from service.deciding.signing import HEADER, SigningKeys, UnreadableKeys, kept_keys
from service.settings import Settings

REPORT = "ab" * 32
BODY = b'{"schema":1}'
TOMORROW = "2030-01-02T00:00:00Z"
NOW_S = 1_893_456_000.0
"""2030-01-01T00:00:00Z."""


def signed(keys: SigningKeys, report_id: str = REPORT, body: bytes = BODY) -> str:
    return keys.sign(report_id, sha256(body).hexdigest(), 3, TOMORROW)


def test_the_device_side_trusts_what_this_installation_signed() -> None:
    keys = SigningKeys.generate()
    assert Seal(REPORT, keys.trusted()).refusal(BODY, signed(keys), NOW_S) is None


@pytest.mark.parametrize(
    ("report_id", "body", "now_s", "refusal"),
    [
        ("cd" * 32, BODY, NOW_S, "other-report"),
        (REPORT, b"another body", NOW_S, "bad-signature"),
        (REPORT, BODY, NOW_S + 2 * 86_400, "expired-document"),
    ],
)
def test_a_signature_holds_for_one_report_one_body_and_its_time(
    report_id: str, body: bytes, now_s: float, refusal: str
) -> None:
    keys = SigningKeys.generate()
    assert Seal(report_id, keys.trusted()).refusal(body, signed(keys), now_s) == refusal


def test_another_installations_signature_is_refused() -> None:
    ours, theirs = SigningKeys.generate(), SigningKeys.generate()
    assert Seal(REPORT, ours.trusted()).refusal(BODY, signed(theirs), NOW_S) == "unknown-key"


def test_a_key_is_published_before_it_signs_and_after_it_did() -> None:
    first = SigningKeys.generate()
    both = first.with_new_key()
    new = both.kids[1]
    assert both.signing_kid == first.signing_kid
    rotated = both.promoted(new)
    assert (rotated.signing_kid, set(rotated.kids)) == (new, set(both.kids))
    # A phone that has not asked since still holds a document of the old key.
    assert Seal(REPORT, rotated.trusted()).refusal(BODY, signed(first), NOW_S) is None
    assert rotated.without(first.signing_kid).kids == (new,)


def test_the_key_that_signs_cannot_be_retired_nor_an_unknown_one() -> None:
    keys = SigningKeys.generate().with_new_key()
    with pytest.raises(ValueError, match="promote another"):
        keys.without(keys.signing_kid)
    with pytest.raises(NotKnown):
        keys.promoted("nobody's")


def test_kept_keys_are_made_once_and_only_their_owner_reads_them(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    first = kept_keys(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert kept_keys(file).kids == first.kids
    assert Seal(REPORT, first.trusted()).refusal(BODY, signed(kept_keys(file)), NOW_S) is None


def test_published_keys_hold_no_secret() -> None:
    assert all("d" not in key for key in SigningKeys.generate().with_new_key().public()["keys"])


@pytest.mark.parametrize(
    "content",
    ["", "{}", "[]", '{"keys": []}', '{"keys": [{"kty": "oct", "k": "c2VjcmV0"}]}', '{"keys": [{"kty": "OKP"}]}'],
)
def test_a_file_without_our_keys_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "keys.json").write_text(content, "utf-8")
    with pytest.raises(UnreadableKeys):
        SigningKeys.read(tmp_path / "keys.json")


def test_a_public_key_alone_does_not_sign(tmp_path: Path) -> None:
    (tmp_path / "keys.json").write_text(json.dumps(SigningKeys.generate().public()), "utf-8")
    with pytest.raises(UnreadableKeys):
        SigningKeys.read(tmp_path / "keys.json")


@pytest.fixture
def signing(settings: Settings, engine: Engine, tmp_path: Path) -> FlaskClient:
    kept_keys(tmp_path / "keys.json")
    return create_app(Settings(settings.database_url, signing_keys=tmp_path / "keys.json"), engine).test_client()


def test_a_decision_goes_out_signed_for_the_report_that_asked(
    operator: Operator, known_report: str, signing: FlaskClient, tmp_path: Path
) -> None:
    operator.publish()
    answer = signing.get(f"/v1/decisions/camera/{known_report}")
    published = signing.get("/.well-known/jwks.json").json
    keys = kept_keys(tmp_path / "keys.json")
    assert published == keys.public()
    issued_s = 0.0
    assert Seal(known_report, keys.trusted()).refusal(answer.data, answer.headers[HEADER], issued_s) is None


def test_an_installation_without_keys_signs_nothing(client: FlaskClient, operator: Operator, known_report: str) -> None:
    operator.publish()
    assert HEADER not in client.get(f"/v1/decisions/camera/{known_report}").headers
    assert client.get("/.well-known/jwks.json").json == {"keys": []}


def test_keys_rotate_from_the_command_line(tmp_path: Path) -> None:
    file = ["--file", str(tmp_path / "keys.json")]

    def run(*arguments: str) -> list[str]:
        result = CliRunner().invoke(main, ["signing-key", *arguments, *file])
        assert result.exit_code == 0, result.output
        return [key["kid"] for key in json.loads(result.output)["keys"]]

    [first] = run("show")
    assert run("add")[0] == first
    second = run("show")[1]
    assert run("promote", second) == [second, first]
    assert run("retire", first) == [second]
    refused = CliRunner().invoke(main, ["signing-key", "retire", second, *file])
    assert refused.exit_code != 0
