"""Signatures on decisions: which document this installation gave to which report, under which release.

The body of a decision names no report, so that equal bodies are stored once; the signature binds the two. It is a compact
JWS (RFC 7515) with Ed25519 over `{report_id, body_sha256, release, expires_at}`.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Self

from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import OKPKey

from policies.errors import NotKnown

HEADER: Final = "X-Nnfleet-Signature"
ALGORITHM: Final = "Ed25519"
"""The fully specified name of RFC 9864; RFC 8037 called it, and another curve, `EdDSA`."""


class UnreadableKeys(ValueError):
    """The file is no set of Ed25519 keys of ours."""


class SigningKeys:
    """Ed25519 keys of an installation: the first signs, all are published, so that a key is known before it signs."""

    def __init__(self, keys: Sequence[OKPKey]) -> None:
        self._keys = tuple(keys)
        self._header = {"alg": ALGORITHM, "kid": self.signing_kid}

    @classmethod
    def generate(cls) -> Self:
        """A set of one new key."""
        return cls([_new_key()])

    @classmethod
    def read(cls, file: Path) -> Self:
        """The keys in a JWK Set file (RFC 7517); raises UnreadableKeys, and OSError where there is none."""
        try:
            keys = [OKPKey.import_key(key) for key in json.loads(file.read_text("utf-8"))["keys"]]
        except (ValueError, KeyError, TypeError, JoseError) as error:
            raise UnreadableKeys(f"{file} is no set of Ed25519 keys: {error!r}") from error
        if not keys or not all(key.is_private and key.curve_name == "Ed25519" for key in keys):
            raise UnreadableKeys(f"{file} holds something else than private Ed25519 keys, or nothing")
        return cls(keys)

    @property
    def signing_kid(self) -> str:
        """The id of the key that signs."""
        return _kid(self._keys[0])

    @property
    def kids(self) -> tuple[str, ...]:
        """The ids of all keys, the signing one first."""
        return tuple(_kid(key) for key in self._keys)

    def sign(self, report_id: str, body_sha256: str, release: int, expires_at: str) -> str:
        """The signature header's value."""
        claims = {"report_id": report_id, "body_sha256": body_sha256, "release": release, "expires_at": expires_at}
        payload = json.dumps(claims, separators=(",", ":")).encode()
        return jws.serialize_compact(self._header, payload, self._keys[0], algorithms=[ALGORITHM])

    def public(self) -> dict[str, Any]:
        """The JWK Set that clients may read: no secret in it."""
        return {"keys": [_with_kid(key, private=False) for key in self._keys]}

    def trusted(self) -> dict[str, bytes]:
        """Key id → the 32 bytes of its public key, as the SDK's setting `trusted_keys` takes them."""
        return {key["kid"]: urlsafe_b64decode(key["x"] + "=") for key in self.public()["keys"]}

    def write(self, file: Path) -> None:
        """Put the keys, secrets included, into a file that only its owner reads; whole or not at all."""
        temporary = file.with_name(f"{file.name}.new")
        temporary.unlink(missing_ok=True)
        temporary.touch(mode=0o600)
        temporary.write_text(json.dumps({"keys": [_with_kid(key, private=True) for key in self._keys]}), "utf-8")
        temporary.replace(file)

    def with_new_key(self) -> SigningKeys:
        """A new key at the end: published, not signing yet."""
        return SigningKeys([*self._keys, _new_key()])

    def promoted(self, kid: str) -> SigningKeys:
        """The key of that id signs from now on; raises NotKnown."""
        chosen = self._key(kid)
        return SigningKeys([chosen, *(key for key in self._keys if key is not chosen)])

    def without(self, kid: str) -> SigningKeys:
        """Without the key of that id; raises NotKnown, and ValueError for the one that signs."""
        gone = self._key(kid)
        if gone is self._keys[0]:
            raise ValueError("this key signs: promote another one first")
        return SigningKeys([key for key in self._keys if key is not gone])

    def _key(self, kid: str) -> OKPKey:
        for key in self._keys:
            if _kid(key) == kid:
                return key
        raise NotKnown(f"there is no signing key {kid!r}", field="kid")


def kept_keys(file: Path) -> SigningKeys:
    """The keys in the file, which is made with a new one where it is missing."""
    if not file.exists():
        SigningKeys.generate().write(file)
    return SigningKeys.read(file)


def _new_key() -> OKPKey:
    return OKPKey.generate_key("Ed25519")


def _kid(key: OKPKey) -> str:
    """The first 16 hexadecimal digits of the RFC 7638 thumbprint: in its usual base64 it can begin like an option."""
    return urlsafe_b64decode(key.thumbprint() + "=").hex()[:16]


def _with_kid(key: OKPKey, *, private: bool) -> dict[str, Any]:
    fields = {name: value for name, value in key.as_dict(private=private).items() if name != "kid"}
    return {**fields, "use": "sig", "alg": ALGORITHM, "kid": _kid(key)}
