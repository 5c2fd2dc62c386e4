"""What names a person or a single phone, by its name or by its look: a report describes a class of devices."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any, Final

_FORBIDDEN_KEYS: Final = frozenset(
    [
        "serial",
        "serialno",
        "serialnumber",
        "imei",
        "imei1",
        "imei2",
        "imsi",
        "iccid",
        "meid",
        "androidid",
        "ssaid",
        "deviceid",
        "unitid",
        "installationid",
        "installid",
        "advertisingid",
        "adid",
        "gaid",
        "idfa",
        "aaid",
        "oaid",
        "account",
        "accountname",
        "username",
        "userid",
        "email",
        "emailaddress",
        "phone",
        "phonenumber",
        "msisdn",
        "mac",
        "macaddress",
        "wifimac",
        "bluetoothmac",
        "bluetoothaddress",
        "ipaddress",
        "ssid",
        "bssid",
        "location",
        "latitude",
        "longitude",
        "lat",
        "lon",
        "gps",
        "address",
        "hostname",
        "devicename",
    ]
)
_FORBIDDEN_VALUES: Final = (
    (re.compile(r"(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])", re.IGNORECASE), "a UUID"),
    (re.compile(r"(?<![0-9a-f:])[0-9a-f]{2}(?::[0-9a-f]{2}){5}(?![0-9a-f:])", re.IGNORECASE), "a MAC address"),
    (re.compile(r"(?<![\w.+-])[\w.+-]++@[\w-]+\.[a-z]{2,}", re.IGNORECASE), "an e-mail address"),
    (re.compile(r"^\d{15}$"), "an IMEI"),
)


def identifiers(raw: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """(path, what it holds) of everything in `raw` that names a person or a unit, known fields and unknown alike."""
    if isinstance(raw, str | int):
        yield from ((path, f"holds what looks like {what}") for what in _looks_like(str(raw)))
    for key, here, value in _children(raw, path):
        if _is_identifier(key):
            yield here, "is the name of an identifier"
        yield from ((here, f"is named by what looks like {what}") for what in _looks_like(key))
        yield from identifiers(value, here)


def _looks_like(text: str) -> Iterator[str]:
    return (what for pattern, what in _FORBIDDEN_VALUES if pattern.search(text))


def _children(raw: Any, path: str) -> Iterator[tuple[str, str, Any]]:
    """(key, path, value) of what an object or a list holds; the key is empty in a list."""
    if isinstance(raw, dict):
        yield from ((key, f"{path}.{key}" if path else key, value) for key, value in raw.items())
    elif isinstance(raw, list):
        yield from (("", f"{path}[{index}]", value) for index, value in enumerate(raw))


def _is_identifier(key: str) -> bool:
    """By the whole key or by a part of it: `Serial-No`, `ro.serialno` and `device/serial` all name one."""
    plain = unicodedata.normalize("NFKC", key).lower()
    names = (plain, *re.split(r"[^a-z0-9_ -]+", plain))
    return any(re.sub(r"[^a-z0-9]", "", name) in _FORBIDDEN_KEYS for name in names)
