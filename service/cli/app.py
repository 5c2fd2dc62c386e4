"""All commands in one place: their names and options. The work is done elsewhere."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from policies import __version__
from policies.errors import NnfleetError
from policies.vocabulary import ThermalStatus, Workload
from service.cli import devices, groups, models, signing
from service.cli.commands import Commands
from service.cli.options import DataFolder, Json
from service.server import WebServer

MOST_DAYS: Final = 36_500
MOST_GRACE_S: Final = MOST_DAYS * 86_400
MOST_RELEASE: Final = 2**31 - 1

app = typer.Typer(
    name="nnfleet",
    cls=Commands,
    help="Which model file, on which silicon, with which settings, and what to do if that fails.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

RUNNING: Final = "Run the service"
DECIDING: Final = "What phones get"
LEARNING: Final = "What was measured, and learned of it"
TRYING: Final = "To try it"
PEOPLE: Final = "Who may, and who did"
"""What `nnfleet --help` lists commands under, in the order of the first command of each."""


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"nnfleet {__version__}")
        raise typer.Exit


@app.callback()
def _nnfleet(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """Nothing of its own: what it prints for --help is the application's."""


class Scenario(StrEnum):
    """What the demo can play."""

    LOOP = "loop"
    BAD_RELEASE = "bad-release"


@app.command(rich_help_panel=RUNNING)
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port to listen on; 0 takes a free one.")] = 8080,
    workers: Annotated[int, typer.Option(min=1, max=256, help="Worker processes.")] = 2,
    server: Annotated[WebServer, typer.Option(help="granian needs the extra `fast`.")] = WebServer.GUNICORN,
    data: DataFolder = None,
) -> None:
    """Serve the HTTP API and the console; starts an embedded PostgreSQL where no database is named."""
    from service.cli.serve import serve as run

    if not run(host, port, workers, data, server):
        raise typer.Exit(1)


@app.command(rich_help_panel=RUNNING)
def migrate(data: DataFolder = None) -> None:
    """Bring the database to the newest schema."""
    from service.cli.serve import migrate as run

    run(data)


@app.command(rich_help_panel=DECIDING)
def coverage(
    file: Annotated[Path, typer.Argument(help="A .tflite file.", exists=True, dir_okay=False)],
    unsupported: Annotated[
        str, typer.Option(help="Operations the delegate refuses: 'PRELU|float32,ADD|float32'.")
    ] = "",
    as_json: Json = False,
) -> None:
    """The partitions that LiteRT would make of a model on a delegate without these operations."""
    from service.registry.file_coverage import coverage_of_file

    try:
        found = coverage_of_file(file, unsupported)
    except (NnfleetError, ValueError) as error:
        raise typer.BadParameter(str(error)) from error
    typer.echo(json.dumps(found) if as_json else "\n".join(f"{name}: {value}" for name, value in found.items()))


@app.command(rich_help_panel=DECIDING)
def decide(
    report: Annotated[Path, typer.Option(help="The phone's report, as JSON.", exists=True, dir_okay=False)],
    app_name: Annotated[str, typer.Option("--app", help="The app that asks.")],
    model: Annotated[str | None, typer.Option(help="One model; all of the app where none is named.")] = None,
    unit: Annotated[str | None, typer.Option(help="Unit id, for its bucket and split.")] = None,
    workload: Annotated[Workload, typer.Option(help="How the app runs the model.")] = Workload.BURST,
    thermal: Annotated[ThermalStatus | None, typer.Option(help="How hot the phone is.")] = None,
    battery_saver: Annotated[bool | None, typer.Option(help="Whether the battery saver is on.")] = None,
    fact: Annotated[
        list[str] | None, typer.Option(help="What the caller says of itself, as 'country=DE'; may be repeated.")
    ] = None,
    release: Annotated[
        int | None, typer.Option(min=1, max=MOST_RELEASE, help="An older release instead of the newest.")
    ] = None,
    policy: Annotated[
        Path | None, typer.Option(help="A policy document instead of the database.", exists=True, dir_okay=False)
    ] = None,
    models: Annotated[
        list[Path] | None, typer.Option(help="Models for --policy; may be repeated.", exists=True, dir_okay=False)
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Print every arm, deny, estimate and share.")] = False,
    data: DataFolder = None,
    as_json: Json = False,
) -> None:
    """What a phone gets, and why: from the installation's releases, or from files alone."""
    from service.cli.decide import Asked, stated_facts
    from service.cli.decide import decide as run

    moment = {"workload": workload, "thermal": thermal, "battery_saver": battery_saver, "unit_id": unit}
    run(
        Asked(
            report, app_name, model, moment | {"facts": stated_facts(fact or ())}, release, policy, models or (), data
        ),
        explain,
        as_json,
    )


@app.command(rich_help_panel=DECIDING)
def compare(
    before: Annotated[Path, typer.Argument(help="A report, as JSON.", exists=True, dir_okay=False)],
    after: Annotated[Path, typer.Argument(help="A later report of the same phone.", exists=True, dir_okay=False)],
    as_json: Json = False,
) -> None:
    """What an update changed: facts, drivers that came or went, and compiled caches that are void."""
    from service.cli.compare import compare as run

    run(before, after, as_json)


@app.command("import", rich_help_panel=LEARNING)
def import_(
    files: Annotated[list[Path], typer.Argument(help="Logs of benchmark_model, operator profiles, perf.yaml files.")],
    app_name: Annotated[str, typer.Option("--app", help="The app whose model was run.")],
    model: Annotated[str, typer.Option(help="The model.")],
    report: Annotated[
        Path | None, typer.Option(help="The phone's report, as JSON.", exists=True, dir_okay=False)
    ] = None,
    device_class: Annotated[
        str | None, typer.Option("--class", help="The phone's class, as the fleet knows it.")
    ] = None,
    variant: Annotated[
        str | None, typer.Option(help="The file that ran, where the log does not tell by its size.")
    ] = None,
    device: Annotated[str | None, typer.Option(help="Which device of a perf.yaml is meant.")] = None,
    data: DataFolder = None,
    as_json: Json = False,
) -> None:
    """Measurements of a lab, marked as such: they fill what the fleet has not measured, and count as no phone."""
    from service.cli.importing import Asked, import_files

    well = import_files(files, Asked(app_name, model, report, device_class, variant, device, data), as_json)
    raise typer.Exit(0 if well else 1)


class ExportKind(StrEnum):
    """Who reads what is exported."""

    PLAY = "play"
    LAKE = "lake"


@app.command(rich_help_panel=DECIDING)
def export(
    kind: Annotated[ExportKind, typer.Argument(help="Who reads it.")],
    app_name: Annotated[str | None, typer.Option("--app", help="The app; for play.")] = None,
    release: Annotated[
        int | None, typer.Option(min=1, max=MOST_RELEASE, help="An older release instead of the newest; for play.")
    ] = None,
    to: Annotated[str | None, typer.Option(help="A folder, or a URL that fsspec knows; for lake.")] = None,
    data: DataFolder = None,
    as_json: Json = False,
) -> None:
    """For Google Play, which phones need which model files; for a lake, observations and rollups as Parquet by day."""
    if kind is ExportKind.LAKE:
        from service.cli.operate import export_lake

        export_lake(to, data, as_json)
        return
    from service.cli.export import export_for_play

    if app_name is None:
        raise typer.BadParameter("which app? --app")
    export_for_play(app_name, release, data, as_json)


@app.command(rich_help_panel=LEARNING)
def rollup(
    lake: Annotated[str, typer.Argument(help="A lake: a folder, or a URL.")],
    to: Annotated[str, typer.Option(help="A folder, or a URL, that tables go to.")],
    engine: Annotated[str, typer.Option(help="duckdb or spark.")] = "duckdb",
    crash_grace_s: Annotated[
        int, typer.Option(min=0, max=MOST_GRACE_S, help="Seconds after which a start without a window is a crash.")
    ] = 7200,
) -> None:
    """Roll a lake up, as the service does its database: counts and histograms by day, what a learner reads by cell."""
    from service.cli.rollup import roll_lake_up

    roll_lake_up(lake, to, engine, crash_grace_s)


@app.command(rich_help_panel=LEARNING)
def recommend(
    data: DataFolder = None,
    crash_grace_s: Annotated[
        int, typer.Option(min=0, max=MOST_GRACE_S, help="Seconds after which a start without a window is a crash.")
    ] = 7200,
    memory: Annotated[
        Path | None,
        typer.Option(dir_okay=False, help="File of variances: start from what the run before left, leave its own."),
    ] = None,
    as_json: Json = False,
) -> None:
    """One learning run over all observations: rankings for the next release, and findings."""
    from service.cli.learn import recommend as run

    run(data, crash_grace_s, as_json, memory)


@app.command(rich_help_panel=RUNNING)
def worker(
    once: Annotated[str | None, typer.Option(help="Run one job now and end: rollup, recommend, …")] = None,
    data: DataFolder = None,
) -> None:
    """Run the jobs at their hours: rollups, findings, learning, guarding rollouts, retention, export."""
    from service.cli.operate import worker as run

    run(once, data)


@app.command(rich_help_panel=RUNNING)
def health(
    days: Annotated[int, typer.Option(min=1, max=MOST_DAYS, help="Days that verdicts are counted over.")] = 7,
    data: DataFolder = None,
) -> None:
    """What became of telemetry: accepted, duplicate, set aside and rejected, by reason; as JSON."""
    from service.cli.operate import health as run

    run(data, days)


@app.command(rich_help_panel=RUNNING)
def backup(
    file: Annotated[Path, typer.Argument(help="Where the back-up goes.", dir_okay=False)],
    data: DataFolder = None,
) -> None:
    """Write the whole database to a file, as of one moment, while everything goes on."""
    from service.cli.operate import backup as run

    run(file, data)


@app.command(rich_help_panel=RUNNING)
def restore(
    file: Annotated[Path, typer.Argument(help="A back-up.", exists=True, dir_okay=False)],
    data: DataFolder = None,
) -> None:
    """Fill an empty database from a back-up."""
    from service.cli.operate import restore as run

    run(file, data)


@app.command(rich_help_panel=DECIDING)
def guard(
    data: DataFolder = None,
    crash_grace_s: Annotated[
        int, typer.Option(min=0, max=MOST_GRACE_S, help="Seconds after which a start without a window is a crash.")
    ] = 7200,
    as_json: Json = False,
) -> None:
    """One look at the rollout that is going on: open its next step, stop it, or wait. The worker looks every minute."""
    from service.cli.guard import guard as run

    run(data, crash_grace_s, as_json)


@app.command(rich_help_panel=LEARNING)
def evaluate(
    data: Annotated[
        Path, typer.Option(help="CSV or Parquet: chipset, model, arm, latency_ms, …", exists=True, dir_okay=False)
    ],
    protocol: Annotated[str, typer.Option(help="unseen-chipset, unseen-model, sparse, adaptive or all.")] = "all",
    seeds: Annotated[int, typer.Option(min=1, max=100, help="Seeds 0, 1, … that the figures are averaged over.")] = 3,
    as_json: Json = False,
) -> None:
    """Judge the learner on measured latencies, with the baselines in the same run."""
    from service.cli.learn import evaluate as run

    run(data, protocol, seeds, as_json)


@app.command(rich_help_panel=TRYING)
def demo(
    devices: Annotated[
        int | None, typer.Option(min=20, max=100_000, help="Phones; 2,000, or 200 with --quick.")
    ] = None,
    rounds: Annotated[int | None, typer.Option(min=2, max=50, help="Rounds; 4.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of the fleet and its noise.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="A small fleet with few models, about a minute.")] = False,
    as_json: Json = False,
    serve: Annotated[bool, typer.Option("--serve", help="Leave the server up at the end, on port 8080.")] = False,
    data: Annotated[Path | None, typer.Option("--data", help="Keep the demo's PostgreSQL in this folder.")] = None,
    scenario: Annotated[
        Scenario, typer.Option(help="What is played: the loop of learning, or a bad release that stops itself.")
    ] = Scenario.LOOP,
    report: Annotated[Path, typer.Option(help="Where the HTML report goes.")] = Path("demo-report/index.html"),
    compare_exploration: Annotated[
        bool,
        typer.Option("--compare-exploration", help="Play it three times: exploring where it pays, evenly, nowhere."),
    ] = False,
) -> None:
    """Watch a fleet of phones get better decisions, round by round, through the real server."""
    from service.cli.demo import command

    if scenario is Scenario.BAD_RELEASE:
        raise typer.Exit(0 if command.bad_release(seed=seed, as_json=as_json, serve=serve, data=data) else 1)
    if compare_exploration:
        passed = command.compare_exploration(devices=devices, rounds=rounds, seed=seed, quick=quick, as_json=as_json)
        raise typer.Exit(0 if passed else 1)
    passed = command.demo(
        devices=devices, rounds=rounds, seed=seed, quick=quick, as_json=as_json, serve=serve, data=data, report=report
    )
    raise typer.Exit(0 if passed else 1)


app.add_typer(devices.devices, name="device", rich_help_panel=TRYING)
app.add_typer(signing.app, name="signing-key", rich_help_panel=RUNNING)
app.add_typer(groups.policy, name="policy", rich_help_panel=DECIDING)
app.add_typer(models.models, name="model", rich_help_panel=DECIDING)
app.add_typer(groups.report, name="report", rich_help_panel=LEARNING)
app.add_typer(groups.keys, name="key", rich_help_panel=PEOPLE)
app.add_typer(groups.users, name="user", rich_help_panel=PEOPLE)
app.add_typer(groups.audit, name="audit", rich_help_panel=PEOPLE)

if __name__ == "__main__":
    app()
