"""`nnfleet signing-key`: which keys decisions are signed with. A new key is published before it signs.

To rotate: add one, ship its public part with the apps, promote it when they are out, retire the old one later. Workers
read the file when they start.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from policies.errors import NnfleetError
from service.deciding.signing import SigningKeys, UnreadableKeys, kept_keys
from service.settings import state_folder, stated_signing_keys

app = typer.Typer(help="The keys that decisions are signed with.", no_args_is_help=True)

KeyFile = Annotated[
    Path | None,
    typer.Option("--file", help="The key file; without it NNFLEET_SIGNING_KEYS, else the one in the data folder."),
]
Kid = Annotated[str, typer.Argument(help="The id of a key, as `nnfleet signing-key show` prints it.")]


@app.command()
def show(file: KeyFile = None) -> None:
    """Print the public keys, the signing one first, as a JWK Set. Makes a first key where there is none."""
    _say(_read(_named(file)))


@app.command()
def add(file: KeyFile = None) -> None:
    """Add a key that is published and does not sign yet."""
    _change(file, _read(_named(file)).with_new_key())


@app.command()
def promote(kid: Kid, file: KeyFile = None) -> None:
    """Let a published key sign from the next start of the server on."""
    try:
        _change(file, _read(_named(file)).promoted(kid))
    except NnfleetError as error:
        raise typer.BadParameter(str(error)) from error


@app.command()
def retire(kid: Kid, file: KeyFile = None) -> None:
    """Remove a key that does not sign."""
    try:
        _change(file, _read(_named(file)).without(kid))
    except (NnfleetError, ValueError) as error:
        raise typer.BadParameter(str(error)) from error


def _named(file: Path | None) -> Path:
    return file or stated_signing_keys() or state_folder() / "signing-keys.json"


def _read(file: Path) -> SigningKeys:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        return kept_keys(file)
    except UnreadableKeys as error:
        raise typer.BadParameter(str(error)) from error


def _change(file: Path | None, keys: SigningKeys) -> None:
    keys.write(_named(file))
    _say(keys)


def _say(keys: SigningKeys) -> None:
    typer.echo(json.dumps(keys.public(), indent=2))
