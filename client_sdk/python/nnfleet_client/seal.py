"""The signature that binds a document to the report that asked: a compact Ed25519 JWS beside the body."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from nnfleet_client.document import instant_s
from nnfleet_client.ed25519 import verifies

SIGNATURE_HEADER: Final = "x-nnfleet-signature"
# "EdDSA" is RFC 8037's name, "Ed25519" that of RFC 9864.
ALGORITHMS: Final = frozenset({"EdDSA", "Ed25519"})


class Seal:
    """Checks documents against the keys an app ships: key id → 32-byte public key. Without keys it checks nothing."""

    def __init__(self, report_id: str, trusted_keys: Mapping[str, bytes]) -> None:
        self._report_id = report_id
        self._trusted_keys = dict(trusted_keys)

    def refusal(self, body: bytes, token: str | None, now_s: float) -> str | None:
        """None for a document that may be trusted, else why not.

        Codes: `unsigned`, `unreadable-signature`, `unknown-key`, `bad-signature` (of these bytes or of others),
        `other-report`, `expired-document`.
        """
        if not self._trusted_keys:
            return None
        if not token:
            return "unsigned"
        try:
            return self._check(body, token, now_s)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return "unreadable-signature"

    def _check(self, body: bytes, token: str, now_s: float) -> str | None:
        head, payload, signature = token.split(".")
        header = json.loads(_decoded(head))
        key = self._trusted_keys.get(header["kid"])
        # The algorithm is ours to choose, never the token's: anything but Ed25519 is refused by name.
        if key is None or header["alg"] not in ALGORITHMS:
            return "unknown-key"
        if not verifies(key, f"{head}.{payload}".encode("ascii"), _decoded(signature)):
            return "bad-signature"
        return self._claim_refusal(json.loads(_decoded(payload)), body, now_s)

    def _claim_refusal(self, claims: Mapping[str, Any], body: bytes, now_s: float) -> str | None:
        if claims["report_id"] != self._report_id:
            return "other-report"
        if claims["body_sha256"] != sha256(body).hexdigest():
            return "bad-signature"
        return "expired-document" if instant_s(claims["expires_at"]) <= now_s else None


def _decoded(part: str) -> bytes:
    return urlsafe_b64decode(part + "=" * (-len(part) % 4))
