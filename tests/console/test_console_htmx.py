"""Pages that follow by themselves, in a real browser under the real security policy: they swap what changed, and no more."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browsing import CHROMIUM, WIDE_LIGHT, chromium, let_in, looking, served
from console_builders import FINDING, NOW, Stage, model_spec, report
from flask import Flask
from playwright.sync_api import Browser, Page, Route, expect
from signing_in import add_person

from policies.rollouts.rollout import Act
from service import clock
from service.identity.actor import Role
from service.releasing.rollouts import steer
from service.store import simulation_runs
from service.store.tables import SimulationRunRow

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium")]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture
def ada(browser: Browser, app: Flask, stage: Stage) -> Iterator[Page]:
    add_person(stage.engine, "ada", Role.ADMIN)
    with served(app) as address:
        context = looking(browser, WIDE_LIGHT, address, bypass_csp=False)
        let_in(context, app, address, "ada")
        yield context.new_page()
        context.close()


def test_a_list_follows_what_is_typed_keeps_it_in_the_address_and_leaves_the_field_alone(
    ada: Page, stage: Stage
) -> None:
    stage.fill()
    ada.goto("/console/classes")
    search = ada.get_by_label("Search")
    search.press_sequentially("pixel 8")
    expect(ada.get_by_text("1–1 of 1 classes")).to_be_visible()
    expect(ada.locator("[aria-live]#told-listed")).to_have_text("1 classes")
    expect(search).to_be_focused()
    assert ada.url.endswith("/console/classes?q=pixel+8")
    ada.get_by_role("columnheader", name="Model", exact=True).get_by_role("link").click()
    expect(ada.locator("th[aria-sort]")).to_contain_text("Model")
    expect(ada.locator("#sort-model")).to_be_focused()
    assert "q=pixel+8" in ada.url, "the order is of what was searched"
    ada.get_by_role("link", name="Clear all").click()
    expect(ada.get_by_text("1–3 of 3 classes")).to_be_visible()
    ada.go_back()
    expect(ada.get_by_text("1–1 of 1 classes")).to_be_visible()


def test_what_is_wrong_with_a_policy_is_told_while_it_is_written(ada: Page, stage: Stage) -> None:
    stage.fill()
    ada.goto("/console/policies/camera")
    text = ada.get_by_role("textbox", name="Policy")
    text.fill("schema: 1\napp: camera\nladder_rungs: 99\n")
    expect(ada.get_by_role("heading", name="1 thing is wrong")).to_be_visible()
    expect(text).to_be_focused()
    text.fill("schema: 1\napp: camera\nladder_rungs: 3\n")
    expect(ada.get_by_text("Nothing is wrong with it.")).to_be_visible()
    expect(ada.get_by_role("region", name="Against what is accepted")).to_contain_text("ladder_rungs")
    ada.get_by_role("button", name="Check and simulate").click()
    expect(ada.get_by_role("region", name="What it would do")).to_be_visible()


def test_a_rollout_that_ends_meanwhile_shows_so_by_itself(ada: Page, stage: Stage, app: Flask) -> None:
    stage.fill()
    stage.start_rollout()
    ada.goto("/console/rollouts/1")
    watcher = ada.locator("#standing[hx-trigger]")
    watcher.evaluate("found => { found.setAttribute('hx-trigger', 'every 200ms'); htmx.process(found) }")
    steer(stage.engine, 1, Act.ABORT, "seen enough", "anna", NOW)
    expect(ada.get_by_role("heading", level=1)).to_contain_text("aborted")
    expect(watcher).to_have_count(0)


def test_a_page_whose_session_ended_leads_to_the_login_and_back(ada: Page, stage: Stage, app: Flask) -> None:
    stage.add_report(report())
    ada.goto("/console/classes")
    ada.context.clear_cookies()
    ada.get_by_label("Search").press_sequentially("pixel")
    ada.wait_for_url("**/console/login?next=/console/classes")


def test_an_error_takes_the_place_of_the_page(ada: Page, stage: Stage) -> None:
    stage.fill()
    ada.goto("/console/policies/camera")
    ada.route(
        "**/console/policies/camera", lambda route: route.fulfill(status=503, body="<main id=content>Later</main>")
    )
    ada.get_by_role("button", name="Check and simulate").click()
    expect(ada.get_by_role("main")).to_have_text("Later")


def test_a_revision_is_simulated_without_leaving_its_page(ada: Page, stage: Stage) -> None:
    stage.fill()
    stage.add_model(model_spec() | {"latency_target_ms": 25.0})
    ada.goto("/console/revisions?state=approved&kind=model")
    ada.get_by_role("rowheader").get_by_role("link").click()
    address = ada.url
    ada.get_by_role("button", name="Simulate now").click()
    expect(ada.get_by_text("It is simulated; what is found is kept with the revision.")).to_be_visible()
    expect(ada.get_by_role("region", name="What it would do to the fleet")).to_contain_text("reports of")
    assert ada.url == address


@pytest.mark.parametrize(
    ("page", "asked", "button", "found"),
    [
        ("policies/camera", "policies/camera", "Check and simulate", "What it would do"),
        (f"quarantines/new?finding={FINDING}", "quarantines/new", "Show whom it touches", "Whom it touches"),
        ("kill", "kill?**", "Show whom it touches", "Switching off camera"),
    ],
    ids=["a policy", "a quarantine", "a kill switch"],
)
def test_who_waits_for_a_simulation_is_told_how_far_it_is(
    ada: Page, stage: Stage, page: str, asked: str, button: str, found: str
) -> None:
    stage.fill()
    run = SimulationRunRow(
        state=simulation_runs.RUNNING, kind="policy", app="camera", asked_by="ada", started_at=clock.now(),
        reports_done=0, reports_total=120,
    )  # fmt: skip
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    ada.goto(f"/console/{page}")
    if page == "kill":
        ada.get_by_label("App").fill("camera")
    ada.route(f"**/console/{asked}", hold)
    with simulation_runs.recorded(stage.engine, run) as record:
        record.note(30)
        ada.get_by_role("button", name=button).click()
        expect(ada.get_by_role("status")).to_contain_text("30 of 120 reports decided, 90 left")
        record.note(60)
        expect(ada.get_by_role("status")).to_contain_text("60 of 120 reports decided, 60 left")
        record.end(simulation_runs.DONE, clock.now())
    held[0].continue_()
    expect(ada.get_by_role("region", name=found)).to_be_visible()
    expect(ada.get_by_role("button", name=button)).to_be_enabled()
