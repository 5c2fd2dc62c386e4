"""Settings: read from the environment once, and handed on to child processes unchanged."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from policies.errors import InvalidField
from service.settings import Settings, child_environment, process_settings, state_folder, stated_manage_token
from service.store.embedded import database

URL = "postgresql://db.example/nnfleet"


@pytest.mark.parametrize(
    "settings",
    [
        Settings(URL),
        Settings(URL, "secret", pool_size=3, lookup_cache_bytes=17, watch_interval_s=0.25, log_level="error"),
        Settings(URL, signing_keys=Path("/keys.json"), local_folder=Path("/srv/local")),
    ],
)
def test_a_child_process_is_set_up_as_its_parent(settings: Settings) -> None:
    assert Settings.from_environment(settings.to_environment()) == settings


def test_the_database_has_to_be_named() -> None:
    with pytest.raises(InvalidField, match="NNFLEET_DATABASE_URL"):
        Settings.from_environment({})


def test_a_served_process_takes_what_the_environment_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NNFLEET_POOL_SIZE", "3")
    monkeypatch.setenv("NNFLEET_LOG_LEVEL", "error")
    assert process_settings(URL, "secret") == Settings(URL, "secret", pool_size=3, log_level="error")


def test_an_empty_token_is_none() -> None:
    assert Settings.from_environment({"NNFLEET_DATABASE_URL": URL, "NNFLEET_MANAGE_TOKEN": ""}).manage_token is None


def test_a_child_keeps_what_else_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELSEWHERE", "kept")
    monkeypatch.setenv("NNFLEET_DATABASE_URL", "postgresql://other/")
    environment = child_environment(Settings(URL))
    assert (environment["ELSEWHERE"], environment["NNFLEET_DATABASE_URL"]) == ("kept", URL)


def test_state_lies_where_it_is_stated_else_in_the_users_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NNFLEET_HOME", "/srv/nnfleet")
    assert state_folder() == Path("/srv/nnfleet")
    monkeypatch.delenv("NNFLEET_HOME")
    assert state_folder() == Path.home() / ".local/share/nnfleet"


def test_a_database_that_is_named_is_used_as_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NNFLEET_DATABASE_URL", URL)
    with database(tmp_path / "unused") as url:
        assert url == URL
    assert not (tmp_path / "unused").exists()


@pytest.mark.parametrize(("stated", "token"), [("secret", "secret"), ("", None)])
def test_the_token_is_the_one_an_operator_named(
    monkeypatch: pytest.MonkeyPatch, stated: str, token: str | None
) -> None:
    monkeypatch.setenv("NNFLEET_MANAGE_TOKEN", stated)
    assert stated_manage_token() == token


def test_settings_that_are_printed_tell_no_secret() -> None:
    shown = repr(Settings("postgresql://user:hidden@db.example/nnfleet", manage_token="also hidden"))
    assert "hidden" not in shown


@pytest.mark.parametrize(
    ("name", "text", "limit"),
    [
        ("POOL_SIZE", "many", None),
        ("POOL_SIZE", "0", 1),
        ("POOL_SIZE", "8.5", None),
        ("WATCH_INTERVAL_S", "nan", 0.01),
        ("WATCH_INTERVAL_S", "inf", 3600),
        ("RETENTION_DAYS", "-1", 1),
        ("RETENTION_DAYS", "9" * 30, 36_500),
        ("SESSION_IDLE_S", "0", 1),
        ("LEAST_FREE_BYTES", str(2**63), 2**50),
        ("REQUIRE_KEYS", "yes", None),
        ("LOG_LEVEL", "loud", None),
        ("PUBLIC_URL", "nnfleet.example", None),
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused_by_its_name(name: str, text: str, limit: float | None) -> None:
    with pytest.raises(InvalidField) as refused:
        Settings.from_environment({"NNFLEET_DATABASE_URL": URL, f"NNFLEET_{name}": text})
    assert (refused.value.field, refused.value.limit) == (f"NNFLEET_{name}", limit)
    assert refused.value.detail.startswith(f"NNFLEET_{name}: ")


def test_every_number_has_a_range_and_its_default_lies_within() -> None:
    for each in fields(Settings):
        if each.type in {"int", "float"}:
            assert each.metadata["least"] <= each.default <= each.metadata["most"], each.name


@pytest.mark.parametrize("name", ["NNFLEET_REQUIRE_KEY", "NNFLEET_REQUIREKEYS", "NNFLEET_require_keys"])
def test_a_misspelt_setting_is_refused_with_the_one_that_was_meant(name: str) -> None:
    with pytest.raises(InvalidField, match="did you mean `NNFLEET_REQUIRE_KEYS`"):
        Settings.from_environment({"NNFLEET_DATABASE_URL": URL, name: "true"})


def test_what_a_cluster_sets_for_a_service_of_our_name_is_no_setting() -> None:
    sets = ("SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_HTTP", "PORT", "PORT_8080_TCP", "PORT_8080_TCP_ADDR")
    stated = {f"NNFLEET_{of}{each}": "x" for of in ("", "DB_") for each in sets}
    assert Settings.from_environment(stated | {"NNFLEET_DATABASE_URL": URL}) == Settings(URL)
