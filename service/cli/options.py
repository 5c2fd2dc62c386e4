"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from service.settings import Settings

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
DataFolder = Annotated[
    Path | None,
    typer.Option("--data", help="Folder of the embedded PostgreSQL; unused where NNFLEET_DATABASE_URL is set."),
]


def check_places(settings: Settings) -> None:
    """Raise BadParameter where model files or the lake are said to lie where nothing can."""
    for url in (settings.artifacts, settings.lake_url):
        if url is not None:
            check_place(url)


def check_place(url: str) -> None:
    """Raise BadParameter where fsspec knows no place of this kind, or its library is not installed."""
    from fsspec.core import get_filesystem_class, split_protocol

    try:
        get_filesystem_class(split_protocol(url)[0] or "file")
    except (ValueError, ImportError) as error:
        raise typer.BadParameter(f"{url}: {error}") from error
