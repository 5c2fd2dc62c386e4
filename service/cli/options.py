"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
DataFolder = Annotated[
    Path | None,
    typer.Option("--data", help="Folder of the embedded PostgreSQL; unused where NNFLEET_DATABASE_URL is set."),
]
