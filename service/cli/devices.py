"""Commands of the group `device`. Names and options only, as in `service.cli.app`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from policies.vocabulary import Workload
from service.cli.groups import LOCAL
from service.cli.options import Json
from service.settings import state_folder

devices = typer.Typer(no_args_is_help=True, help="This machine as a device of the fleet; needs the extra `litert`.")


@devices.command("run")
def run_device(  # noqa: PLR0913, PLR0917 -- an argument is an option
    app_name: Annotated[str, typer.Option("--app", help="The app that asks.")],
    model: Annotated[str, typer.Option(help="The model to run.")],
    server: Annotated[str, typer.Option(help="Address of the service.")] = LOCAL,
    rounds: Annotated[int, typer.Option(min=1, max=1000, help="Uses, each as another unit of this class.")] = 1,
    runs: Annotated[int, typer.Option(min=1, max=10_000, help="Runs a use, after warming up.")] = 30,
    workload: Annotated[Workload, typer.Option(help="How the app runs the model.")] = Workload.BURST,
    files: Annotated[
        Path | None, typer.Option(help="Folder of model files, used where a digest fits.", exists=True, file_okay=False)
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="A report made before, instead of a new one.", exists=True, dir_okay=False)
    ] = None,
    unit: Annotated[str | None, typer.Option(help="Unit id; each use draws another where none is named.")] = None,
    folder: Annotated[Path | None, typer.Option(help="What is kept between runs.", file_okay=False)] = None,
    as_json: Json = False,
) -> None:
    """Report this machine, ask for the decision, walk its ladder with LiteRT, send what was measured."""
    from service.cli.device_run import Asked, run

    kept = folder or state_folder() / "device"
    asked = Asked(server, app_name, model, rounds, runs, workload.value, kept, files, report, unit)
    raise typer.Exit(0 if run(asked, as_json) else 1)


@devices.command("report")
def report_device(file: Annotated[Path, typer.Argument(help="Where the report goes.", dir_okay=False)]) -> None:
    """Write this machine's capability report to a file."""
    from service.cli.device_run import write_report

    write_report(file)
