"""What people come to the console for, from the first page to the end, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from browsing import CHROMIUM, WIDE_LIGHT, chromium, let_in, looking, served
from console_builders import FINDING, Stage, model_spec
from flask import Flask
from playwright.sync_api import Browser, Page
from signing_in import PASSWORD, add_person

from service.identity.actor import Role

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium")]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture
def address(app: Flask) -> Iterator[str]:
    with served(app) as found:
        yield found


@pytest.fixture
def stranger(browser: Browser, address: str) -> Iterator[Page]:
    context = looking(browser, WIDE_LIGHT, address)
    yield context.new_page()
    context.close()


@pytest.fixture
def ada(browser: Browser, app: Flask, stage: Stage, address: str) -> Iterator[Page]:
    """An admin who is signed in."""
    add_person(stage.engine, "ada", Role.ADMIN)
    context = looking(browser, WIDE_LIGHT, address)
    let_in(context, app, address, "ada")
    yield context.new_page()
    context.close()


def told(page: Page) -> str:
    """What the page says came of the act before; until its style is there, what waits for a next one shows beside it."""
    return page.locator("p[role=status]").inner_text()


def test_a_person_signs_in_lands_where_they_wanted_to_be_and_signs_out(stranger: Page, stage: Stage) -> None:
    add_person(stage.engine, "anna", Role.VIEWER, PASSWORD)
    stranger.goto("/console/telemetry?days=30")
    stranger.get_by_label("Name").fill("anna")
    stranger.get_by_label("Password").fill("not this one")
    stranger.get_by_role("button", name="Sign in").click()
    assert "do not fit" in stranger.get_by_role("alert").inner_text()
    stranger.get_by_label("Password").fill(PASSWORD)
    stranger.get_by_role("button", name="Sign in").click()
    assert stranger.url.endswith("/console/telemetry?days=30")
    stranger.get_by_role("button", name="Sign out").click()
    stranger.goto("/console/")
    assert "/console/login" in stranger.url


def test_from_the_fleet_to_a_class_to_why_it_gets_what_it_gets(ada: Page, stage: Stage) -> None:
    stage.operate()
    ada.goto("/console/")
    ada.get_by_role("link", name="Classes", exact=True).click()
    ada.get_by_label("Search").fill("pixel 8")
    ada.get_by_role("button", name="Apply").click()
    ada.get_by_text("1–1 of 1 classes").wait_for()
    ada.get_by_role("rowheader").get_by_role("link").first.click()
    assert "Pixel 8" in ada.get_by_role("heading", level=1).inner_text()
    ada.get_by_role("link", name="Explain a decision").click()
    assert "/console/explain" in ada.url
    ada.get_by_label("or device class").wait_for()


def test_a_key_is_made_seen_once_and_revoked(ada: Page) -> None:
    ada.goto("/console/keys")
    ada.get_by_text("Make a key").click()
    form = ada.get_by_role("form", name="Make a key")
    form.get_by_label("Name").fill("ci")
    form.get_by_label("telemetry").check()
    form.get_by_role("button", name="Make the key").click()
    assert ada.locator(".secret code").inner_text().startswith("nnf_")
    ada.get_by_role("link", name="Keys").click()
    assert ada.locator(".secret").count() == 0
    ada.get_by_text("Revoke", exact=True).click()
    ada.get_by_label("Type ci to confirm").fill("ci")
    ada.get_by_role("button", name="Revoke the key").click()
    assert "The key ci is revoked." in told(ada)


def test_who_did_what_is_found_in_the_audit_log(ada: Page, stage: Stage) -> None:
    stage.operate()
    ada.goto("/console/audit")
    ada.get_by_label("Search").fill("rollout abort")
    ada.get_by_role("button", name="Apply").click()
    ada.get_by_text("1–1 of 1 rows").wait_for()
    row = ada.get_by_role("row").nth(1)
    assert "anna" in row.inner_text()
    row.get_by_role("link", name="rollout:1").click()
    assert ada.url.endswith("/console/rollouts/1")


def test_why_a_record_was_set_aside_is_read_from_the_record(ada: Page, stage: Stage) -> None:
    stage.operate()
    ada.goto("/console/telemetry")
    ada.get_by_role("link", name="negative latency").first.click()
    assert "reason=negative-latency" in ada.url
    assert "latency_us" in ada.content()


def test_a_finding_becomes_a_quarantine_that_waits_for_somebody_else(ada: Page, stage: Stage) -> None:
    stage.fill()
    add_person(stage.engine, "olga", Role.APPROVER)
    ada.goto(f"/console/findings/{FINDING}")
    ada.get_by_role("link", name="Propose a quarantine").click()
    assert "tensor-g3" in ada.get_by_role("textbox", name="SoCs", exact=True).input_value()
    ada.get_by_role("button", name="Show whom it touches").click()
    assert "match the cohort" in ada.get_by_role("region", name="Whom it touches").inner_text()
    ada.get_by_label("Note for the reviewer").fill("seen in the field")
    ada.get_by_role("button", name="Put it up for review").click()
    assert "is waiting for a review" in told(ada)


def test_an_arm_is_switched_off_once_its_name_is_typed(ada: Page, stage: Stage) -> None:
    stage.fill()
    ada.goto("/console/kill")
    ada.get_by_label("App").fill("camera")
    ada.get_by_label("Arm").fill("*.gpu")
    ada.get_by_role("button", name="Show whom it touches").click()
    ada.get_by_label("Why").fill("it hangs")
    ada.get_by_label("Type *.gpu to confirm").fill("*.cpu")
    ada.get_by_role("button", name="Switch it off").click()
    assert "nothing was done" in ada.get_by_role("main").inner_text()
    ada.go_back()
    ada.get_by_label("Why").fill("it hangs")
    ada.get_by_label("Type *.gpu to confirm").fill("*.gpu")
    ada.get_by_role("button", name="Switch it off").click()
    assert "*.gpu" in told(ada)


def test_a_rollout_is_paused_and_then_aborted(ada: Page, stage: Stage) -> None:
    stage.fill()
    stage.start_rollout()
    ada.goto("/console/rollouts/1")
    steer = ada.get_by_role("region", name="Steer it")
    steer.get_by_label("Why").first.fill("looking closer")
    steer.get_by_role("button", name="Pause").click()
    assert "paused" in ada.get_by_role("heading", level=1).inner_text()
    ada.get_by_text("Abort: give everybody the control again").click()
    abort = ada.locator("details.confirm")
    abort.get_by_label("Why").fill("seen enough")
    abort.get_by_label("Type 1 to confirm").fill("1")
    abort.get_by_role("button", name="Abort the rollout").click()
    assert "aborted" in ada.get_by_role("heading", level=1).inner_text()


def test_a_job_is_asked_for_now(ada: Page, stage: Stage) -> None:
    stage.fill()
    ada.goto("/console/jobs")
    ada.get_by_text("Run one now").click()
    ada.get_by_label("Job").first.select_option("rollup")
    ada.get_by_role("button", name="Run it now").click()
    assert "rollup" in told(ada)


def test_a_file_is_uploaded_read_and_becomes_a_variant_of_a_new_model(ada: Page) -> None:
    ada.goto("/console/models")
    ada.get_by_role("link", name="Upload a file").click()
    ada.get_by_label("A model's file").set_input_files("tests/vectors/hey_jarvis.tflite")
    ada.get_by_role("button", name="Upload").click()
    assert "hey_jarvis.tflite is kept." in told(ada)
    ada.get_by_label("App").fill("camera")
    ada.get_by_label("Model").fill("wake-word")
    ada.get_by_role("button", name="Make it a variant").click()
    ada.get_by_label("Task").fill("keyword-spotting")
    ada.get_by_label("Latency target").fill("10")
    ada.get_by_label("Accuracy drop").fill("300")
    ada.get_by_label("Why").fill("hands free")
    ada.get_by_role("button", name="Submit for review").click()
    assert "less than or equal to 1" in ada.get_by_role("group", name="hey_jarvis").inner_text()
    ada.get_by_label("Accuracy drop").fill("0.5")
    ada.get_by_role("button", name="Submit for review").click()
    assert "waits for a review" in told(ada)


def test_a_policy_is_edited_simulated_and_approved_by_somebody_else_before_it_is_released(
    ada: Page, browser: Browser, app: Flask, stage: Stage, address: str
) -> None:
    stage.fill()
    add_person(stage.engine, "ben", Role.ADMIN)
    ada.goto("/console/policies/camera")
    text = ada.get_by_role("textbox", name="Policy")
    stated = re.sub(r"exploration_bp: \d+\n", "", text.input_value())
    text.fill(f"{stated}exploration_bp: 700\n")
    ada.get_by_role("button", name="Check and simulate").click()
    ada.get_by_role("region", name="What it would do").wait_for()
    ada.get_by_role("textbox", name="Why").fill("explore less")
    ada.get_by_role("button", name="Submit for review").click()
    assert ada.get_by_role("button", name="Approve").count() == 0, "nobody approves their own change"

    context = looking(browser, WIDE_LIGHT, address)
    let_in(context, app, address, "ben")
    ben = context.new_page()
    ben.goto("/console/reviews")
    ben.get_by_role("rowheader").get_by_role("link").first.click()
    ben.get_by_role("button", name="Approve").click()
    assert "approved" in ben.get_by_role("heading", level=1).inner_text()
    ben.goto("/console/releases")
    ben.get_by_text("Publish", exact=True).click()
    ben.get_by_label("Note").fill("explore less")
    ben.get_by_role("button", name="Publish to everybody").click()
    assert "2" in told(ben)
    context.close()


def test_an_admin_binds_somebody_to_an_app_who_then_sees_that_app_alone(
    ada: Page, browser: Browser, app: Flask, stage: Stage, address: str
) -> None:
    stage.fill()
    stage.add_model(model_spec("vault", "ledger"))
    add_person(stage.engine, "mia", Role.APPROVER)
    ada.goto("/console/users/mia")
    ada.get_by_role("textbox", name="Apps").fill("camera")
    ada.get_by_role("button", name="Set the apps").click()
    assert told(ada) == "mia has camera from now on."
    context = looking(browser, WIDE_LIGHT, address)
    let_in(context, app, address, "mia")
    mia = context.new_page()
    mia.goto("/console/models")
    assert "mobilenet" in mia.content()
    assert "ledger" not in mia.content()
    mia.goto("/console/policies")
    assert "vault" not in mia.content()
    mia.goto("/console/policies/vault")
    assert "mia has the app 'camera' only" in mia.locator("main").inner_text()
    mia.goto("/console/releases")
    assert "vault" not in mia.locator("main").inner_text()
    context.close()
