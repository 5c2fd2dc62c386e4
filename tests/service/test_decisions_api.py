"""`GET /v1/decisions/{app}/{report_id}`: cacheable bytes, the same ones by either lane (R-F2, R-F4)."""

from __future__ import annotations

import json
import threading
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from builders import deny, make_report
from flask.testing import FlaskClient
from operating import Operator
from sqlalchemy import Engine
from werkzeug.test import Client

from policies.report import report_id
from service.deciding import lookup as lookups
from service.deciding.answer import CACHE_CONTROL
from service.deciding.fast_lane import FastLane
from service.deciding.lookup import Lookup
from service.releasing.releases import ReleaseWatcher, load
from service.settings import Settings

PATH = f"/v1/decisions/camera/{report_id(make_report())}"


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.get_json()["code"]


def test_before_the_first_release_there_is_no_decision(client: FlaskClient, known_report: str) -> None:
    assert code(client.get(PATH)) == (404, "unknown-release")


def test_a_report_that_was_never_uploaded_is_asked_for(client: FlaskClient, operator: Operator) -> None:
    operator.publish()
    assert code(client.get(PATH)) == (404, "unknown-report")


def test_an_app_that_is_in_no_release_is_named(client: FlaskClient, operator: Operator, known_report: str) -> None:
    operator.publish()
    answer = client.get(PATH.replace("camera", "gallery"))
    assert code(answer) == (404, "unknown-app")
    assert answer.get_json()["field"] == "app"


def test_the_decision_names_its_release_and_an_arm_that_the_phone_has(
    client: FlaskClient, operator: Operator, known_report: str
) -> None:
    release = operator.publish()
    document = client.get(PATH).get_json()
    assert (document["app"], document["release"]) == ("camera", release)
    [split] = document["models"]["segmentation"]["plans"]["main"]["splits"]
    assert split["ladder"][0] == "int8.tflite.nnapi.google-edgetpu"
    assert document["issued_at"].endswith("Z")


def test_the_answer_may_be_cached_by_anybody(client: FlaskClient, operator: Operator, known_report: str) -> None:
    operator.publish()
    answer = client.get(PATH)
    assert answer.headers["Cache-Control"] == CACHE_CONTROL
    assert answer.headers["Surrogate-Key"] == "release-1 app-camera"
    assert not answer.headers["ETag"].startswith("W/")


@pytest.mark.parametrize("form", ["{}", "W/{}", '"other", {}', 'W/"other",W/{}', "*"])
@pytest.mark.parametrize("lane", ["flask", "fast"])
def test_a_client_that_has_the_bytes_gets_none(
    client: FlaskClient, operator: Operator, known_report: str, form: str, lane: str
) -> None:
    operator.publish()
    etag = client.get(PATH).headers["ETag"]
    asked = _fast(client) if lane == "fast" else client
    answer = asked.get(PATH, headers={"If-None-Match": form.format(etag)})
    assert (answer.status_code, answer.data) == (304, b"")
    assert answer.headers["ETag"] == etag
    assert answer.headers["Cache-Control"] == CACHE_CONTROL


@pytest.mark.parametrize("header", ["", '"other"', "W/", "**"])
def test_a_client_that_has_other_bytes_gets_these(
    client: FlaskClient, operator: Operator, known_report: str, header: str
) -> None:
    operator.publish()
    assert client.get(PATH, headers={"If-None-Match": header}).status_code == 200


def _lookup(client: FlaskClient) -> Lookup:
    found: Lookup = client.application.extensions["nnfleet"].lookup
    return found


def _unreachable(_environ: Any, _start_response: Any) -> list[bytes]:
    raise AssertionError("a ready answer went past the fast lane")


def _fast(client: FlaskClient) -> Client:
    return Client(FastLane(_lookup(client), _unreachable))


@pytest.mark.parametrize("etag", [None, "*"])
def test_the_fast_lane_answers_with_the_bytes_and_headers_of_flask(
    client: FlaskClient, operator: Operator, known_report: str, etag: str | None
) -> None:
    operator.publish()
    headers = {"If-None-Match": etag} if etag else {}
    client.get(PATH)
    slow, fast = client.get(PATH, headers=headers), _fast(client).get(PATH, headers=headers)
    assert (fast.status_code, fast.data) == (slow.status_code, slow.data)
    assert sorted(fast.headers) == sorted(slow.headers)


@pytest.mark.parametrize(("method", "path"), [("HEAD", PATH), ("GET", "/v1/decisions/camera/x"), ("GET", "/healthz")])
def test_the_fast_lane_hands_on_what_is_not_ready(
    client: FlaskClient, operator: Operator, known_report: str, method: str, path: str
) -> None:
    operator.publish()
    client.get(PATH)
    lane = Client(FastLane(_lookup(client), client.application))
    assert lane.open(path, method=method).status_code == client.open(path, method=method).status_code


def _swap(client: FlaskClient, engine: Engine) -> None:
    content = load(engine)
    assert content is not None
    _lookup(client).swap(content)


def test_a_new_release_replaces_every_answer_and_its_etag(
    client: FlaskClient, engine: Engine, operator: Operator, known_report: str
) -> None:
    operator.publish()
    old = client.get(PATH)
    operator.publish("second", {"denies": [deny("q1", "*.nnapi.*")]})
    _swap(client, engine)
    new = client.get(PATH, headers={"If-None-Match": old.headers["ETag"]})
    assert (new.status_code, new.get_json()["release"]) == (200, 2)
    assert "nnapi" not in json.dumps(new.get_json()["models"]["segmentation"]["plans"])


def test_a_deny_that_ended_is_not_published_and_one_of_today_is(
    client: FlaskClient, operator: Operator, known_report: str
) -> None:
    today = datetime.now(UTC).date()

    def denies(until: date) -> dict[str, Any]:
        return {"denies": [deny("q1", "*.nnapi.*", until=until.isoformat())]}

    operator.publish(policy=denies(today - timedelta(days=2)))
    assert "nnapi" in json.dumps(client.get(PATH).get_json()["models"])
    operator.publish(policy=denies(today + timedelta(days=2)))
    _swap(client, client.application.extensions["nnfleet"].engine)
    assert "nnapi" not in json.dumps(client.get(PATH).get_json()["models"]["segmentation"]["arms"])


def _upload(client: FlaskClient, number: int) -> str:
    body = make_report(device={"model": f"Phone {number}"})
    client.put(f"/v1/reports/{report_id(body)}", data=body)
    return report_id(body)


def test_ready_answers_stay_within_their_bound_and_the_newest_stay(
    client: FlaskClient, engine: Engine, operator: Operator
) -> None:
    operator.publish()
    ids = [_upload(client, number) for number in range(5)]
    size = len(_lookup(client).answer("camera", ids[0]).body) + lookups.OVERHEAD_BYTES
    small = Lookup(engine, cache_bytes=3 * size + size // 2)
    for report in ids:
        small.answer("camera", report)
    assert [report for report in ids if small.hit("camera", report)] == ids[2:]


def test_a_bound_smaller_than_an_answer_keeps_the_last_one(
    client: FlaskClient, engine: Engine, operator: Operator, known_report: str
) -> None:
    operator.publish()
    small = Lookup(engine, cache_bytes=1)
    assert small.answer("camera", known_report) is small.hit("camera", known_report)


def test_threads_that_compute_one_answer_at_once_count_it_once(
    client: FlaskClient, engine: Engine, operator: Operator
) -> None:
    operator.publish()
    ids = [_upload(client, number) for number in range(3)]
    size = len(_lookup(client).answer("camera", ids[0]).body) + lookups.OVERHEAD_BYTES
    shared = Lookup(engine, cache_bytes=3 * size + size // 2)
    ready = threading.Barrier(4)

    def ask() -> None:
        ready.wait(timeout=60)
        for report in ids:
            shared.answer("camera", report)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert all(shared.hit("camera", report) for report in ids)


def test_a_watcher_follows_every_release_and_stops(engine: Engine, settings: Settings, operator: Operator) -> None:
    seen: list[int] = []
    heard = threading.Condition()

    class Hearing:
        def released(self, content: Any, packed: bytes) -> None:
            with heard:
                seen.append(content.number)
                heard.notify_all()

        def woken(self) -> None:
            return None

    operator.publish()
    watcher = ReleaseWatcher(engine, settings, Hearing())
    watcher.start()
    operator.publish("second")
    with heard:
        assert heard.wait_for(lambda: seen == [1, 2], timeout=60)
    watcher.stop()
