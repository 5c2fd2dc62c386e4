"""Ed25519 signatures, verified (RFC 8032 §5.1.7). Public values only, so nothing here needs to run in constant time.

A verification takes a few milliseconds of plain Python, once per fetched document.
"""

from __future__ import annotations

from hashlib import sha512
from typing import Final

P: Final = 2**255 - 19
ORDER: Final = 2**252 + 27742317777372353535851937790883648493
D: Final = -121665 * pow(121666, -1, P) % P
_ROOT_OF_MINUS_ONE: Final = pow(2, (P - 1) // 4, P)

# Extended coordinates (X, Y, Z, T): x = X/Z, y = Y/Z, x·y = T/Z.
Point = tuple[int, int, int, int]
NEUTRAL: Final[Point] = (0, 1, 1, 0)


def verifies(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """True where the 64-byte signature of the message was made with the 32-byte public key's secret."""
    if len(public_key) != 32 or len(signature) != 64:
        return False
    key, nonce = decompress(public_key), decompress(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    if key is None or nonce is None or scalar >= ORDER:
        return False
    challenge = int.from_bytes(sha512(signature[:32] + public_key + message).digest(), "little") % ORDER
    return _same(times(scalar, BASE), add(nonce, times(challenge, key)))


def add(left: Point, right: Point) -> Point:
    """The sum of two points (RFC 8032 §5.1.4)."""
    a = (left[1] - left[0]) * (right[1] - right[0]) % P
    b = (left[1] + left[0]) * (right[1] + right[0]) % P
    c = 2 * left[3] * right[3] * D % P
    d = 2 * left[2] * right[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def times(scalar: int, point: Point) -> Point:
    """A point added to itself a number of times."""
    total = NEUTRAL
    while scalar:
        if scalar & 1:
            total = add(total, point)
        point = add(point, point)
        scalar >>= 1
    return total


def decompress(encoded: bytes) -> Point | None:
    """The point of a 32-byte encoding; None where there is none on the curve (RFC 8032 §5.1.3)."""
    number = int.from_bytes(encoded, "little")
    sign, y = number >> 255, number & (2**255 - 1)
    if y >= P:
        return None
    x = _x_of(y)
    if x is None or (x == 0 and sign):
        return None
    x = P - x if x & 1 != sign else x
    return (x, y, 1, x * y % P)


def compress(point: Point) -> bytes:
    """The 32-byte encoding of a point (RFC 8032 §5.1.2)."""
    inverse = pow(point[2], -1, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def _x_of(y: int) -> int | None:
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    root = pow(square, (P + 3) // 8, P)
    if (root * root - square) % P:
        root = root * _ROOT_OF_MINUS_ONE % P
    return root if (root * root - square) % P == 0 else None


def _same(left: Point, right: Point) -> bool:
    return (left[0] * right[2] - right[0] * left[2]) % P == 0 and (left[1] * right[2] - right[1] * left[2]) % P == 0


_BASE_Y: Final = 4 * pow(5, -1, P) % P
_BASE_X: Final = 15112221349535400772501151409588531511454012693041857206046113283949847762202
BASE: Final[Point] = (_BASE_X, _BASE_Y, 1, _BASE_X * _BASE_Y % P)
