from __future__ import annotations

import json
import re
from html import unescape

import pytest
from console_builders import Stage, finding, model_spec, report
from flask.testing import FlaskClient
from signing_in import act
from sqlmodel import Session

from policies.assign import bucket
from service.console.visitor import COOKIE
from service.store import reports


def explained(client: FlaskClient, **query: str) -> str:
    answer = client.get("/console/explain", query_string=query)
    assert answer.status_code == 200
    return answer.text


def pasted(client: FlaskClient, text: str, **form: str) -> tuple[int, str]:
    answer = act(client, "/console/explain", pasted=text, **form)
    return answer.status_code, unescape(answer.text)


@pytest.fixture
def decided(stage: Stage) -> Stage:
    stage.add_model(model_spec(), exploration_bp=1_000)
    stage.publish()
    return stage


def test_without_a_phone_only_the_form_is_shown(client: FlaskClient, decided: Stage) -> None:
    page = explained(client)
    assert "A pasted report" in page
    assert "Every arm" not in page


def test_out_of_the_box_rule_is_named_with_coverage_and_arms(client: FlaskClient, decided: Stage) -> None:
    report_id, _ = decided.add_report(report())
    page = explained(client, report=report_id, model="camera/mobilenet")
    assert "the out-of-the-box rule" in page
    assert "Nothing yet for the driver stack" in page
    for arm in ("int8.tflite.cpu", "fp32.tflite.gpu", "int8.tflite.nnapi.google-edgetpu"):
        assert arm in page


def test_a_learned_ranking_is_shown_with_estimates(client: FlaskClient, decided: Stage) -> None:
    report_id, facts = decided.add_report(report())
    decided.learn(facts, findings=[finding()])
    decided.publish()
    page = explained(client, report=report_id, model="camera/mobilenet")
    assert "what the fleet measured" in page
    for text in ("4.25\u00a0ms", "1,234", "0.10", facts.driver_stack):
        assert text in page


def test_arms_that_learning_excludes_are_shown_with_the_reason(client: FlaskClient, decided: Stage) -> None:
    report_id, facts = decided.add_report(report())
    decided.learn(facts, findings=[], excluded={"fp32.tflite.gpu": "golden-check"})
    decided.publish()
    page = explained(client, report=report_id, workload="sustained")
    assert "sustained: golden-check" in page
    assert "burst: golden-check" not in page


def test_a_deny_takes_arms_away_and_is_named(client: FlaskClient, stage: Stage) -> None:
    stage.add_model(model_spec(), denies=[{"id": "no-npu", "arms": ["*.nnapi.*"], "reason": "it crashes"}])
    report_id, facts = stage.add_report(report())
    stage.learn(facts, findings=[])
    stage.publish()
    page = explained(client, report=report_id)
    assert "no-npu: it crashes" in page
    assert "Denies that apply" in page
    assert "not available here" in page
    ladder = re.search(r'<ol class="ladder">(.*?)</ol>', page)
    assert ladder is not None
    assert "nnapi" not in ladder.group(1)


def test_a_unit_gets_its_bucket_split_and_propensity(client: FlaskClient, decided: Stage) -> None:
    report_id, _ = decided.add_report(report())
    page = explained(client, report=report_id, model="camera/mobilenet", unit="unit-7")
    assert f"{bucket('camera.mobilenet', 'unit-7'):,} of 0…9,999" in page
    assert "Propensity" in page
    assert page.count("this unit</span>") == 1


def test_settings_of_the_first_rung_are_shown(client: FlaskClient, decided: Stage) -> None:
    report_id, _ = decided.add_report(report())
    page = explained(client, report=report_id)
    assert "limits.run_timeout_ms" in page
    assert "options.compile_cache_token" in page


def test_the_share_link_shows_the_same_without_the_unit_and_names_no_host(client: FlaskClient, decided: Stage) -> None:
    report_id, _ = decided.add_report(report())
    asked = {"report": report_id, "workload": "sustained"}
    cookie = client.get_cookie(COOKIE, path="/console")
    assert cookie is not None
    client.set_cookie(COOKIE, cookie.value, domain="evil.example", path="/console")
    page = client.get(
        "/console/explain", query_string={**asked, "unit": "a b&c"}, headers={"Host": "evil.example"}
    ).text
    link = re.search(r'Share, without the unit: <a href="([^"]+)">([^<]+)<', page)
    assert link is not None
    assert link.group(1) == link.group(2)
    assert link.group(1).startswith("/console/explain?")
    assert "unit" not in link.group(1)
    assert "evil.example" not in page
    shown, unasked = client.get(unescape(link.group(1))).text, explained(client, **asked)
    assert re.findall(r"<dd>[^<]*", shown) == re.findall(r"<dd>[^<]*", unasked)


def test_a_phone_is_explained_against_an_older_release_and_the_link_keeps_it(
    client: FlaskClient, decided: Stage
) -> None:
    report_id, _ = decided.add_report(report())
    decided.add_model(model_spec(), denies=[{"id": "no-npu", "arms": ["*.nnapi.*"], "reason": "it crashes"}])
    decided.publish("the NPU crashes")
    now, before = explained(client, report=report_id), explained(client, report=report_id, release="1")
    assert ("no-npu: it crashes" in now, "no-npu: it crashes" in before) == (True, False)
    assert "release 1 ·" in before
    assert "release=1" in unescape(before)


@pytest.mark.parametrize(("release", "status"), [("9", 404), ("one", 422), ("-1", 422)])
def test_a_release_that_is_none_is_told_at_its_field(
    client: FlaskClient, decided: Stage, release: str, status: int
) -> None:
    report_id, _ = decided.add_report(report())
    answer = client.get("/console/explain", query_string={"report": report_id, "release": release})
    assert answer.status_code == status
    assert 'id="stored-release-error"' in answer.text


def test_a_class_can_be_explained(client: FlaskClient, decided: Stage) -> None:
    _, facts = decided.add_report(report())
    assert "Pixel 8" in explained(client, **{"class": facts.device_class})


def test_a_pasted_report_is_explained_and_not_stored(client: FlaskClient, decided: Stage) -> None:
    status, page = pasted(client, report("Never Seen").decode(), model="camera/mobilenet", unit="u")
    assert status == 200
    assert "mobilenet on google Never Seen" in page
    assert "no link to share" in page
    with Session(decided.engine) as session:
        assert reports.count_reports(session) == 0


def test_a_phone_that_can_run_nothing_keeps_its_bundled_default(client: FlaskClient, stage: Stage) -> None:
    stage.add_model(model_spec(), denies=[{"id": "all-off", "arms": ["*"], "reason": "recall"}])
    report_id, _ = stage.add_report(report())
    stage.publish()
    page = explained(client, report=report_id)
    assert "keeps its bundled default" in page
    assert "all-off: recall" in page


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "line 1, column 2"),
        ("", "line 1"),
        ("[]", ""),
        (
            json.dumps({"schema": 1, "device": {"manufacturer": "x", "model": "y", "api_level": "old"}}),
            "device.api_level",
        ),
        (json.dumps({"schema": 1, "device": {"serial": "123"}}), "device.serial"),
    ],
)
def test_what_is_wrong_with_a_pasted_report_stands_at_its_field(
    client: FlaskClient, decided: Stage, text: str, said: str
) -> None:
    status, page = pasted(client, text)
    assert status == 422
    error = re.search(r'id="pasted-pasted-error">([^<]+)<', page)
    assert error is not None
    assert said in error.group(1)
    assert 'aria-invalid="true"' in page


@pytest.mark.parametrize(
    ("query", "field", "status"),
    [
        ({"report": "f" * 64}, "report", 404),
        ({"class": "nothing"}, "class", 404),
        ({"report": "KNOWN", "model": "camera/none"}, "model", 404),
        ({"report": "KNOWN", "model": "none/none"}, "model", 404),
        ({"report": "KNOWN", "workload": "idle"}, "workload", 422),
    ],
)
def test_what_is_wrong_with_a_choice_stands_at_its_field(
    client: FlaskClient, decided: Stage, query: dict[str, str], field: str, status: int
) -> None:
    report_id, _ = decided.add_report(report())
    asked = {name: report_id if value == "KNOWN" else value for name, value in query.items()}
    answer = client.get("/console/explain", query_string=asked)
    assert answer.status_code == status
    assert f'id="stored-{field}-error"' in answer.text


def test_a_report_over_the_limit_is_refused_at_its_field(client: FlaskClient, decided: Stage) -> None:
    status, page = pasted(client, " " * (300 * 1024))
    assert status == 422
    assert "at most 262144 are taken" in page


def test_rules_are_shown_with_what_became_of_them(client: FlaskClient, stage: Stage) -> None:
    rules = [
        {"id": "by-driver", "when": 'request.driver == "x"', "use": "learned"},
        {"id": "old", "when": "device.api_level < 9", "use": "learned"},
        {"id": "gpu-first", "when": "device.api_level >= 9", "use": {"ladder": ["*.gpu"]}},
    ]
    stage.add_model(model_spec(), rules=rules)
    report_id, _ = stage.add_report(report())
    stage.publish()
    page = unescape(explained(client, report=report_id))
    assert "a rule of the policy" in page
    told = re.findall(r'<th scope="row"><code>([a-z-]+)</code></th><td>(.*?)</td><td>(.*?)</td>', page)
    assert told == [
        ("by-driver", "unknown", "unknown: request.driver"),
        ("old", "not matched", ""),
        ("gpu-first", "chose", ""),
    ]
    assert '<code>device.api_level >= 9</code><span class="id">device.api_level is 34</span>' in page
