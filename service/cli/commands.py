"""What ends a command with a line instead of a traceback: whoever runs it sees what to change, in one place for all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from policies.errors import NnfleetError
from service.settings import check_environment

if TYPE_CHECKING:
    from typer._click.core import Context


class Commands(TyperGroup):
    """All commands. A misspelt setting stops each of them: it would work on another database than was meant."""

    def invoke(self, ctx: Context) -> Any:
        """Run the command that was named. What is wrong outside of this code is told on standard error, and ends with 1."""
        try:
            check_environment()
            return super().invoke(ctx)
        except BrokenPipeError:  # whoever read the output has seen enough
            raise
        except _expected() as error:
            typer.echo(f"nnfleet: {_line(error)}", err=True)
            raise typer.Exit(1) from error


def _expected() -> tuple[type[Exception], ...]:
    """What can be wrong with files, databases, servers and their answers. Imported only where something is."""
    import psycopg
    from sqlalchemy.exc import DBAPIError

    from service.server import ServerDied
    from service.store.schema import NewerSchema

    return NnfleetError, OSError, psycopg.Error, DBAPIError, NewerSchema, ServerDied


def _line(error: Exception) -> str:
    """What went wrong, in the first line that says so."""
    if isinstance(error, NnfleetError):
        return error.detail
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return next(iter(str(error).splitlines()), "") or type(error).__name__
