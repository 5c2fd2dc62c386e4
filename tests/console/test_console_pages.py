from __future__ import annotations

import pytest
from console_builders import FINDING, Stage, finding, model_spec, report
from flask.testing import FlaskClient
from markup import elements, runs
from sqlalchemy import Engine
from sqlmodel import Session

from service.console.pages import CONTENT_SECURITY_POLICY
from service.store.tables import RecommendationRow
from tests.queries import counted_queries

PAGES = (
    "/console/", "/console/classes", "/console/models", "/console/findings", "/console/explain",
    "/console/recommendations", "/console/quarantines", "/console/revisions", "/console/rollouts", "/console/releases", "/console/telemetry",
    "/console/jobs", "/console/audit",
)  # fmt: skip
PARTS = (
    "/console/models/camera/mobilenet", f"/console/findings/{FINDING}", "/console/recommendations/1",
    "/console/revisions/1", "/console/rollouts/1", "/console/releases/2", "/console/jobs/1",
)  # fmt: skip
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"


def every_page(device_class: str, report_id: str) -> list[str]:
    return [*PAGES, *PARTS, f"/console/classes/{device_class}", f"/console/explain?report={report_id}&unit=abc"]


@pytest.mark.parametrize("path", PAGES[:-1])  # the audit log has a row of whoever looks
def test_a_page_of_an_empty_installation_says_that_nothing_is_there(client: FlaskClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    assert 'class="empty"' in answer.text


def test_every_page_of_a_filled_installation_answers(client: FlaskClient, stage: Stage) -> None:
    report_id, facts = stage.operate()
    for path in every_page(facts.device_class, report_id):
        assert client.get(path).status_code == 200, path


def test_the_fleet_page_names_release_counts_findings_and_anomalies(client: FlaskClient, stage: Stage) -> None:
    stage.fill()
    page = client.get("/console/").text
    assert '<a href="/console/releases/1">Release 1</a>' in page
    assert 'href="/console/telemetry#set-aside-title"' in page
    assert "1\u00a0Mar\u00a02026, 12:30\u00a0UTC" in page
    assert "first of all" in page
    assert "5,432 windows" in page
    assert "wrong output" in page
    assert "/console/classes?anomaly=new-soc" in page
    assert "33.3%" in page


def test_curves_are_drawn_over_rounds_and_told_in_words(client: FlaskClient, stage: Stage) -> None:
    stage.fill()
    page = client.get("/console/").text
    assert "mean: from 2.00× to 1.70×." in page
    assert page.count('class="dot"') == 16


def test_a_fleet_without_rounds_says_that_regret_is_not_known(client: FlaskClient, stage: Stage) -> None:
    stage.add_report(report())
    page = client.get("/console/").text
    assert "Regret is not known here" in page
    assert 'class="dot"' not in page


def test_a_learning_run_without_findings_is_told_from_no_run_at_all(client: FlaskClient, stage: Stage) -> None:
    assert "No learning run yet" in client.get("/console/").text
    stage.add_learning_run({}, [])
    assert "No finding" in client.get("/console/").text


@pytest.mark.parametrize("path", [*PAGES, "/console/nowhere", "/console/classes/none", "/console/static/console.css"])
def test_every_console_answer_carries_the_content_security_policy(client: FlaskClient, path: str) -> None:
    with client.get(path) as answer:
        policy, _, script = answer.headers["Content-Security-Policy"].partition("; script-src ")
        assert policy == CONTENT_SECURITY_POLICY
        assert bool(script) == (answer.mimetype == "text/html")
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_the_policy_is_for_the_console_alone(client: FlaskClient) -> None:
    assert "Content-Security-Policy" not in client.get("/v1/decisions/camera/abc").headers


def test_no_page_has_what_the_policy_would_block(client: FlaskClient, stage: Stage) -> None:
    report_id, facts = stage.operate()
    for path in every_page(facts.device_class, report_id):
        assert runs(client.get(path).text) == [], path


def test_the_one_script_carries_the_nonce_of_its_page_which_is_another_each_time(client: FlaskClient) -> None:
    nonces = set()
    for _ in range(2):
        answer = client.get("/console/")
        [nonce] = [facts["nonce"] for tag, facts in elements(answer.text) if tag == "script"]
        assert answer.headers["Content-Security-Policy"].endswith(f"; script-src 'nonce-{nonce}'")
        nonces.add(nonce)
    assert len(nonces) == 2


def test_hostile_texts_from_reports_models_and_findings_stay_text(client: FlaskClient, stage: Stage) -> None:
    report_id, facts = stage.add_report(report(HOSTILE, HOSTILE, driver=HOSTILE))
    stage.add_model(model_spec(), denies=[{"id": "no-gpu", "arms": ["*.gpu"], "reason": HOSTILE}])
    stage.add_learning_run({}, [finding(HOSTILE, HOSTILE, HOSTILE) | {"evidence": [{HOSTILE: HOSTILE}]}])
    stage.publish(HOSTILE)
    shown = 0
    for path in [
        *every_page(facts.device_class, report_id),
        f"/console/classes?q={HOSTILE}",
        f"/console/explain?report={HOSTILE}",
    ]:
        html = client.get(path).text
        assert runs(html) == [], path
        shown += "&lt;script&gt;" in html
    assert shown >= 6


def test_tables_have_captions_and_scopes(client: FlaskClient, stage: Stage) -> None:
    report_id, facts = stage.operate()
    for path in every_page(facts.device_class, report_id):
        html = client.get(path).text
        assert html.count("<table") == html.count("<caption"), path
        assert all("scope" in attributes for tag, attributes in elements(html) if tag == "th"), path


def test_every_input_has_a_label_and_every_page_one_heading(client: FlaskClient, stage: Stage) -> None:
    report_id, facts = stage.operate()
    for path in every_page(facts.device_class, report_id):
        html = client.get(path).text
        assert [tag for tag, _ in elements(html)].count("h1") == 1, path
        fields = [
            a for tag, a in elements(html) if tag in {"input", "select", "textarea"} and a.get("type") != "hidden"
        ]
        assert html.count("<label") == len(fields), path
        assert '<a class="skip" href="#content">' in html


def test_every_page_has_one_place_in_the_navigation(client: FlaskClient, stage: Stage) -> None:
    report_id, facts = stage.operate()
    for path in every_page(facts.device_class, report_id):
        navigation = client.get(path).text.partition("</header>")[0]
        marked = [a.get("href") for tag, a in elements(navigation) if tag == "a" and "aria-current" in a]
        assert len(marked) == 2, path  # in the navigation of wide and of narrow windows
        assert len(set(marked)) == 1, path
        assert str(path).startswith(str(marked[0])), path


def test_the_number_of_queries_does_not_grow_with_the_fleet(client: FlaskClient, stage: Stage, engine: Engine) -> None:
    report_id, facts = stage.operate()
    paths = every_page(facts.device_class, report_id)

    def queries() -> list[int]:
        counts = []
        for path in paths:
            with counted_queries(engine) as statements:
                client.get(path)
            # Once a minute a session's last use is noted.
            counts.append(len([s for s in statements if not s.startswith("UPDATE person_session")]))
        return counts

    queries()  # what a worker reads once and keeps
    few = queries()
    for number in range(12):
        stage.add_report(report(f"Phone {number}", f"Chip {number}"))
        stage.add_model(model_spec(f"app-{number}", f"model-{number}"))
    stage.publish("more of everything")
    assert queries() == few
    assert max(few) <= 9


def test_a_class_page_shows_facts_hints_support_and_decisions(client: FlaskClient, stage: Stage) -> None:
    _, facts = stage.fill()
    page = client.get(f"/console/classes/{facts.device_class}").text
    for text in ("Pixel 8", "tensor-g3", "Hints", "CONV_2D", "TENSOR_QUANT8_ASYMM", "mobilenet", "4.25\u00a0ms"):
        assert text in page


def test_an_unknown_class_is_a_page_with_404(client: FlaskClient) -> None:
    answer = client.get("/console/classes/0123456789abcdef")
    assert answer.status_code == 404
    assert answer.mimetype == "text/html"


def test_models_show_variants_with_sizes_and_targets(client: FlaskClient, stage: Stage) -> None:
    stage.fill()
    page = client.get("/console/models").text
    for text in ("mobilenet-int8", "13.6\u00a0MB", "target 30.0\u00a0ms", "any SoC", "not measured"):
        assert text in page


def test_releases_are_listed_newest_first_with_their_notes(client: FlaskClient, stage: Stage) -> None:
    stage.publish("one")
    stage.publish("two")
    page = client.get("/console/releases").text
    assert page.index("two") < page.index("one")


def test_a_large_recommendation_is_not_read_for_the_fleet_page(
    client: FlaskClient, stage: Stage, engine: Engine
) -> None:
    stage.add_learning_run({}, [])
    with counted_queries(engine) as statements:
        client.get("/console/")
    assert not [s for s in statements if "rankings" in s]
    with Session(engine) as session:
        assert session.get(RecommendationRow, 1) is not None
