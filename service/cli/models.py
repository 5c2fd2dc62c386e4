"""Commands on models: `nnfleet model …`. Names and options only, as in `service.cli.app`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from policies.vocabulary import Format, Precision
from service.cli.groups import LOCAL, Server, end
from service.cli.options import Json

models = typer.Typer(no_args_is_help=True, help="Models and their files.")
ModelFiles = Annotated[
    list[Path], typer.Argument(help="Model files; each becomes a variant.", exists=True, dir_okay=False)
]


@models.command("inspect")
def inspect_model(
    file: Annotated[Path, typer.Argument(help="A model file.", exists=True, dir_okay=False)], as_json: Json = False
) -> None:
    """What a file tells of itself: operations, types, precision, shapes, signatures."""
    from service.cli.model_inspect import inspect as run

    end(lambda: run(file, as_json))


@models.command("add")
def add_model(  # noqa: PLR0913, PLR0917 -- an argument is an option
    name: Annotated[str, typer.Argument(metavar="APP.MODEL", help="The model, as in camera.segmentation.")],
    files: ModelFiles,
    task: Annotated[str | None, typer.Option(help="What it does, as image-segmentation; for a new model.")] = None,
    latency_target_ms: Annotated[
        float | None, typer.Option(min=0, help="How long a run may take; for a new model.")
    ] = None,
    family: Annotated[str | None, typer.Option(help="Its architecture; its name where none is stated.")] = None,
    max_accuracy_drop: Annotated[
        float | None, typer.Option(min=0, max=1, help="The share of accuracy it can bear to lose.")
    ] = None,
    max_memory_mb: Annotated[float | None, typer.Option(min=1, help="The memory (MiB) that a run may take.")] = None,
    target: Annotated[list[str] | None, typer.Option(help="A SoC the files were built for; may be repeated.")] = None,
    file_format: Annotated[
        Format | None, typer.Option("--format", help="For files that are not read: vendor binaries.")
    ] = None,
    precision: Annotated[Precision | None, typer.Option(help="For files that are not read.")] = None,
    golden: Annotated[
        bool, typer.Option("--golden", help="Run the float file here, as the reference of golden checks.")
    ] = False,
    golden_input: Annotated[
        Path | None,
        typer.Option(help="Real inputs for --golden, .npy or raw float32; noise without.", exists=True, dir_okay=False),
    ] = None,
    server: Server = LOCAL,
) -> None:
    """Upload files and declare them as variants of a model; what a file tells of itself is read from it."""
    from service.cli.model_add import Addition
    from service.cli.model_add import add as run

    app, dot, model = name.partition(".")
    if not (app and dot and model):
        raise typer.BadParameter(f"{name!r} is not of the form APP.MODEL")
    stated = {"task": task, "family": family, "latency_target_ms": latency_target_ms}
    of_files = {"targets": target, "format": file_format, "precision": precision}
    addition = Addition(
        app,
        model,
        files,
        stated | {"max_accuracy_drop": max_accuracy_drop, "max_memory_mb": max_memory_mb},
        {field: value for field, value in of_files.items() if value},
        golden,
        golden_input,
    )
    end(lambda: run(server, addition))
