"""What images and containers are made from: no engine runs here, so the files are held to the repository and the CLI."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest
import typer.main
import yaml
from packaging.requirements import Requirement

from service.cli.app import app as cli
from service.settings import Settings, variable
from tests.docs.markdown import ROOT, text

DOCKERFILE = text("Dockerfile")
READ = {variable(setting) for setting in fields(Settings)} | {"NNFLEET_HOME"}
COMPOSE: dict[str, Any] = yaml.safe_load(text("compose.yaml"))


def _instructions() -> Iterator[tuple[str, str]]:
    for line in re.sub(r"\\\n\s*", "", DOCKERFILE).splitlines():
        word, _, rest = line.partition(" ")
        if word.isupper():
            yield word, rest


def _stages() -> dict[str, str]:
    """Name → what it is built from."""
    lines = (rest.split(" AS ") for word, rest in _instructions() if word == "FROM")
    return {name: base for base, name in lines}


def test_every_stage_is_built_from_the_base_or_from_an_earlier_stage() -> None:
    names = list(_stages())
    for number, base in enumerate(_stages().values()):
        assert base == "${PYTHON}" or base in names[:number]


def test_stages_copy_from_stages_that_exist() -> None:
    assert set(re.findall(r"--from=(\S+)|from=([\w-]+)", DOCKERFILE)) != set()
    for named in re.findall(r"from=([\w-]+)", DOCKERFILE):
        assert named in _stages()


def test_what_is_copied_exists_and_is_let_through_to_the_builder() -> None:
    allowed = {line[1:] for line in text(".dockerignore").splitlines() if line.startswith("!")}
    assert [path for path in sorted(allowed) if not (ROOT / path).exists()] == []
    for word, rest in _instructions():
        if word == "COPY" and "--from" not in rest and rest != ". .":
            assert set(rest.split()[:-1]) <= allowed


def test_the_builder_gets_all_that_the_wheels_are_made_from() -> None:
    allowed = set(re.findall(r"^!(\S+)", text(".dockerignore"), re.MULTILINE))
    assert {
        "policies",
        "service",
        "ml",
        "client_sdk/python",
        "README.md",
        "LICENSE",
        "NOTICE",
        "pyproject.toml",
    } <= allowed


@pytest.mark.parametrize("target", ["service", "jobs"])
def test_images_run_as_nobody_in_particular(target: str) -> None:
    assert _stages()[target] == "runtime"
    runtime = DOCKERFILE.split(" AS runtime\n")[1].split("\nFROM ")[0]
    assert re.search(r"^USER 10001$", runtime, re.MULTILINE)


def test_the_service_is_asked_for_its_health() -> None:
    stage = DOCKERFILE.split(" AS service\n")[1]
    assert "HEALTHCHECK" in stage
    assert "/healthz" in stage


def test_everything_is_installed_by_hash_or_without_an_index() -> None:
    for word, rest in _instructions():
        if word == "RUN":
            for install in re.findall(r"pip (?:--python \S+ )?(install|wheel)(.*?)(?= &&|$)", rest):
                assert re.search(r"--require-hashes|--no-index|--no-build-isolation", install[1]), install


@pytest.mark.parametrize(
    "extras",
    [["service", "fast", "onnx", "s3"], ["service", "fast", "litert", "ml", "onnx", "onnxruntime", "s3", "sdk"]],
)
def test_the_lock_holds_what_an_image_names_and_no_image_names_a_tool_of_the_desk(extras: list[str]) -> None:
    assert f"deploy/extras.py {' '.join(extras)} >" in DOCKERFILE
    run = [sys.executable, str(ROOT / "deploy" / "extras.py"), *extras]
    wanted = subprocess.run(run, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    names = {Requirement(line).name for line in wanted}
    locked = set(re.findall(r"^([a-z0-9_.-]+)==", text("requirements.lock"), re.MULTILINE))
    assert names <= locked
    assert names & {"pytest", "mypy", "ruff", "hypothesis", "import-linter"} == set()


def test_the_tools_of_the_builder_are_pinned_by_hash() -> None:
    pins = re.findall(r"^([\w.-]+)==([\d.]+) \\\n\s+--hash=sha256:", text("deploy/build.lock"), re.MULTILINE)
    versions = dict(pins)
    assert "hatchling" in versions
    # The first pip that takes hashes from a constraints file for names that come without a version.
    assert tuple(map(int, versions["pip"].split("."))) >= (26, 1)


def test_containers_run_commands_and_options_that_exist() -> None:
    commands = typer.main.get_command(cli).commands  # type: ignore[attr-defined]
    ours = {name: s for name, s in COMPOSE["services"].items() if s["image"].startswith("nnfleet")}
    assert set(ours) == {"migrate", "service", "worker"}
    for container in ours.values():
        program, command, *options = container["command"]
        assert program == "nnfleet"
        known = {name for parameter in commands[command].params for name in parameter.opts}
        assert {option for option in options if option.startswith("--")} <= known
        assert container["build"]["target"] in _stages()


def test_containers_wait_for_containers_that_exist() -> None:
    for container in COMPOSE["services"].values():
        assert set(container.get("depends_on", {})) <= set(COMPOSE["services"])
        for source in (volume.split(":")[0] for volume in container.get("volumes", [])):
            assert source in COMPOSE["volumes"] or (ROOT / source).is_file()


def test_the_environment_of_containers_is_what_settings_read() -> None:
    for container in COMPOSE["services"].values():
        for name in container.get("environment", {}):
            assert not name.startswith("NNFLEET_") or name in READ


def test_the_cache_stands_in_front_of_the_service_of_the_containers() -> None:
    config = text("deploy/nginx.conf")
    assert re.search(r"upstream nnfleet \{\s*server service:8080;", config)
    assert config.count("{") == config.count("}") + config.count("${") - len(re.findall(r"\$\{\w+\}", config))
    stale_s = int(re.search(r"stale-if-error=(\d+)", text("service/deciding/answer.py"))[1])  # type: ignore[index]
    inactive_d = int(re.search(r"inactive=(\d+)d", config)[1])  # type: ignore[index]
    assert inactive_d * 86_400 > stale_s
