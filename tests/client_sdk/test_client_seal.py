"""Signed documents (R-F5): what binds a document to the phone that asked, and what is refused."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from hashlib import sha256, sha512
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sdk_builders import REPORT, FakeServer, make_client, make_document

from nnfleet_client import Reason, Settings, report_id
from nnfleet_client.ed25519 import BASE, ORDER, compress, times, verifies

SECRET = bytes(range(32))

# RFC 8032 §7.1, tests 1 to 3: public key, message, signature.
RFC_8032 = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
]


def key_pair(secret: bytes) -> tuple[int, bytes, bytes]:
    """Scalar, prefix and public key of a secret (RFC 8032 §5.1.5)."""
    digest = sha512(secret).digest()
    scalar = int.from_bytes(digest[:32], "little") & ~7 & (2**254 - 1) | 2**254
    return scalar, digest[32:], compress(times(scalar, BASE))


def sign(message: bytes, secret: bytes = SECRET) -> bytes:
    scalar, prefix, public_key = key_pair(secret)
    nonce = int.from_bytes(sha512(prefix + message).digest(), "little") % ORDER
    encoded = compress(times(nonce, BASE))
    challenge = int.from_bytes(sha512(encoded + public_key + message).digest(), "little") % ORDER
    return encoded + ((nonce + challenge * scalar) % ORDER).to_bytes(32, "little")


def base64url(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode()


def make_token(body: bytes, header: dict[str, Any] | None = None, secret: bytes = SECRET, **claims: Any) -> str:
    payload = {
        "report_id": report_id(REPORT),
        "body_sha256": sha256(body).hexdigest(),
        "release": 41,
        "expires_at": "2026-06-27T00:00:00Z",
    }
    head = base64url(json.dumps({"alg": "EdDSA", "kid": "k1"} | (header or {})).encode())
    unsigned = f"{head}.{base64url(json.dumps(payload | claims).encode())}"
    return f"{unsigned}.{base64url(sign(unsigned.encode(), secret))}"


def refreshed(body: bytes, token: str | None) -> tuple[Reason, str | None]:
    headers = {} if token is None else {"X-Nnfleet-Signature": token}
    server = FakeServer(fault=lambda request: httpx.Response(200, content=body, headers=headers))
    outcome = make_client(server, settings=Settings(trusted_keys={"k1": key_pair(SECRET)[2]})).refresh()
    return outcome.reason, outcome.error_code


BODY = json.dumps(make_document()).encode()


@pytest.mark.parametrize(("public_key", "message", "signature"), RFC_8032)
def test_the_signatures_of_the_standard_verify(public_key: str, message: str, signature: str) -> None:
    assert verifies(bytes.fromhex(public_key), bytes.fromhex(message), bytes.fromhex(signature))


@settings(deadline=None)
@given(st.integers(0, 2), st.integers(0, 511))
def test_no_signature_survives_a_flipped_bit(which: int, bit: int) -> None:
    public_key, message, signature = map(bytes.fromhex, RFC_8032[which])
    flipped = bytearray(signature)
    flipped[bit // 8] ^= 1 << bit % 8
    assert not verifies(public_key, message, bytes(flipped))
    assert not verifies(public_key, message + b"x", signature)


@pytest.mark.parametrize(
    ("public_key", "signature"),
    [
        (b"\x00" * 31, b"\x00" * 64),
        (b"\x00" * 32, b"\x00" * 63),
        (b"\xff" * 32, b"\x00" * 64),
        (b"\x02" + b"\x00" * 31, b"\x00" * 64),
        (b"\x01" + b"\x00" * 30 + b"\x80", b"\x00" * 64),
    ],
    ids=["short key", "short signature", "beyond the field", "off the curve", "negative zero"],
)
def test_what_is_no_key_or_no_signature_verifies_nothing(public_key: bytes, signature: bytes) -> None:
    assert not verifies(public_key, b"", signature)


def test_a_signature_written_with_a_larger_scalar_is_refused() -> None:
    public_key, message, signature = map(bytes.fromhex, RFC_8032[1])
    scalar = int.from_bytes(signature[32:], "little") + ORDER
    assert not verifies(public_key, message, signature[:32] + scalar.to_bytes(32, "little"))


@pytest.mark.parametrize("algorithm", ["EdDSA", "Ed25519"])
def test_a_document_signed_for_this_report_is_taken_up(algorithm: str) -> None:
    assert refreshed(BODY, make_token(BODY, {"alg": algorithm})) == (Reason.FRESH, None)


@pytest.mark.parametrize(
    ("token", "code"),
    [
        (None, "unsigned"),
        ("", "unsigned"),
        ("a.b", "unreadable-signature"),
        ("a.b.c", "unreadable-signature"),
        (make_token(BODY, {"kid": "k2"}), "unknown-key"),
        (make_token(BODY, {"kid": ["k1"]}), "unreadable-signature"),
        (make_token(BODY, {"alg": "none"}), "unknown-key"),
        (make_token(BODY, {"alg": "HS256"}), "unknown-key"),
        (make_token(BODY, secret=b"x" * 32), "bad-signature"),
        (make_token(BODY, body_sha256=sha256(b"other").hexdigest()), "bad-signature"),
        (make_token(BODY, report_id="0" * 64), "other-report"),
        (make_token(BODY, expires_at="2026-01-01T00:00:00Z"), "expired-document"),
        (make_token(BODY, expires_at=None), "unreadable-signature"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 30 else "",
)
def test_a_document_that_is_not_signed_for_this_report_is_refused(token: str | None, code: str) -> None:
    assert refreshed(BODY, token) == (Reason.DEFAULT, code)


def test_an_app_without_keys_does_not_look_at_signatures() -> None:
    assert make_client(FakeServer()).refresh().reason is Reason.FRESH
