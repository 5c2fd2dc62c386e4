"""Back-up and restore, by PostgreSQL's own tools as the wheel brings them: one file, one moment, all or nothing."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Final
from uuid import uuid4

from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import Engine, inspect

from service.store.embedded import PROGRAMS
from service.store.schema import check_known

_FROM_URL: Final = {
    "host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD", "dbname": "PGDATABASE",
    "sslmode": "PGSSLMODE", "sslrootcert": "PGSSLROOTCERT",
}  # fmt: skip


class BackupError(RuntimeError):
    """PostgreSQL's tool failed, or there is something in the way; nothing was changed."""


def back_up(database_url: str, file: Path) -> int:
    """Write the whole database, as of one moment, to the file; returns its bytes.

    Reading and writing go on meanwhile. Raises BackupError; the file comes to its name whole or not at all.
    """
    hidden = file.with_name(f".{file.name}.{uuid4().hex}")
    try:
        _run(database_url, "pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={hidden}")
        hidden.chmod(0o600)
        hidden.replace(file)
    finally:
        hidden.unlink(missing_ok=True)
    return file.stat().st_size


def restore(engine: Engine, database_url: str, file: Path) -> None:
    """Fill an empty database from the file, in one transaction; the schema stays as it was backed up.

    Raises BackupError, also where the database is not empty, and NewerSchema; then nothing was changed.
    """
    if inspect(engine).get_table_names():
        raise BackupError("the database has tables: restore into an empty one")
    check_known(_schema_of(file), "the back-up")
    options = ("--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error")
    _run(database_url, "pg_restore", *options, "--dbname=", str(file))


def _schema_of(file: Path) -> str:
    """The revision of the schema that was backed up."""
    told = _run("", "pg_restore", "--data-only", "--table=alembic_version", "--file=-", str(file))
    found = re.search(r"^COPY .*alembic_version .*\n(\S+)\n\\\.$", told, re.MULTILINE)
    if found is None:
        raise BackupError(f"{file} is no back-up of nnfleet")
    return found[1]


def _run(database_url: str, tool: str, *arguments: str) -> str:
    """Run the tool; returns what it printed."""
    # By the environment: arguments can be read by everybody on the machine.
    stated = conninfo_to_dict(database_url)
    environment = {_FROM_URL[name]: str(value) for name, value in stated.items() if name in _FROM_URL}
    command = [str(PROGRAMS / tool), *arguments]
    done = subprocess.run(  # noqa: S603 -- our own tools
        command, env={"PATH": os.defpath, "LC_ALL": "C"} | environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BackupError(f"{tool}: {done.stderr.strip() or done.returncode}")
    return done.stdout
