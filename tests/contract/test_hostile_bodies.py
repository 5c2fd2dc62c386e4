"""Bodies that are meant to hurt: each route refuses each of them with a code, and none makes it hang."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

import pytest
from builders import report_with
from flask.testing import FlaskClient
from operating import TOKEN, Operator

from service.api.openapi_bodies import BODIES

LONG = 240_000
BODIES_THAT_HURT = {
    "deep objects": b'{"a":' * (LONG // 5),
    "deep arrays": b"[" * LONG,
    "deep and closed": b"[" * 5_000 + b"]" * 5_000,
    "a huge integer": b'{"app": ' + b"9" * LONG + b"}",
    "a huge negative integer": b'{"release": -' + b"9" * 4_000 + b"}",
    "a huge exponent": b'{"app": 1e999999999}',
    "not a number": b'{"app": NaN}',
    "a key twice": b'{"app": "a", "app": "b"}',
    "a key twice, spelled apart": b'{"app": "a", "\\u0061pp": "b"}',
    "NUL": b'{"app": "\\u0000", "note": "\\u0000"}',
    "half a surrogate pair": b'{"app": "\\ud800", "note": "\\ud800"}',
    "UTF-16": '{"app": "camera"}'.encode("utf-16"),
    "no UTF-8": b'{"app": "\xff\xfe"}',
    "a text that never ends": b'{"app": "' + b'\\"' * (LONG // 2),
    "quotes only": b'"' * LONG,
    "almost e-mails": b'{"app": "' + b"a." * (LONG // 2) + b'"}',
    "at signs": b'{"app": "' + b"a@" * (LONG // 2) + b'"}',
    "almost MAC addresses": b'{"app": "' + b"aa:" * (LONG // 3) + b'"}',
    "many keys": json.dumps({f"k{number}": 0 for number in range(15_000)}).encode(),
    "a number": b"7",
    "a text": b'"report"',
    "null": b"null",
    "a list of nothing": b"[[], {}, null]",
    "half a body": b'{"app": ',
}
ROUTES = sorted((method, re.sub(r"<\w+>", "camera", rule)) for method, rule in BODIES)


@pytest.mark.parametrize("body", BODIES_THAT_HURT.values(), ids=BODIES_THAT_HURT)
def test_a_body_that_is_meant_to_hurt_is_refused_by_every_route(client: FlaskClient, body: bytes) -> None:
    for method, path in ROUTES:
        answer = client.open(path, method=method, data=body, headers={"Authorization": f"Bearer {TOKEN}"})
        told = answer.get_json()
        if path == "/v1/telemetry" and answer.status_code == 200:  # a batch is taken, its records are not
            assert (told["accepted"], bool(told["rejected"])) == (0, True)
        else:
            assert 400 <= answer.status_code < 500, path
            assert told["code" if answer.mimetype == "application/problem+json" else "errorCode"], path


@pytest.mark.parametrize("name", ["Zoë", "Åsa", "한글"])
def test_a_unit_is_the_same_in_every_spelling_of_unicode(client: FlaskClient, operator: Operator, name: str) -> None:
    operator.publish(policy={"exploration_bp": 1_000})
    buckets = set()
    for form in ("NFC", "NFD"):
        asked: dict[str, Any] = {"app": "camera", "report": report_with()}
        unit = unicodedata.normalize(form, name)
        told = client.post("/v1/decide", json=asked | {"request": {"unit_id": unit}}).get_json()
        buckets.add(told["models"]["segmentation"]["bucket"])
    assert len(buckets) == 1
