"""`nnfleet demo` from its options to its exit code."""

from __future__ import annotations

import json
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console
from sqlalchemy import Engine
from sqlmodel import Session

from ml.fleet import build_fleet
from service import clock
from service.cli.demo.bad_release import SOCS, few_socs
from service.cli.demo.bad_release import play as play_bad_release
from service.cli.demo.exploring import WAYS, WHERE_IT_PAYS, print_comparison
from service.cli.demo.play import Play, Scene, play
from service.cli.demo.report import write_report
from service.cli.demo.screen import Screen, print_verdict
from service.cli.demo.timeline import print_look, print_outcome
from service.cli.serve import wait_for_interrupt
from service.deciding.signing import SigningKeys, kept_keys
from service.identity import people
from service.identity.actor import COMMAND_LINE, Role
from service.identity.people import NewPerson
from service.server import running_server
from service.settings import Settings
from service.store import schema
from service.store.embedded import embedded_postgresql
from service.store.engine import make_engine
from service.store.tables import PersonRow

DEVICES, ROUNDS = 2_000, 4
QUICK_DEVICES, QUICK_ROUNDS, QUICK_MODELS = 200, 5, 10
ADMIN = "admin"
"""Who signs in to a demo that stays up."""
SERVED_PORT = 8080
STAGED_DEVICES = 1_000
"""Phones that those of a bad release are taken from."""


def demo(
    *, devices: int | None, rounds: int | None, seed: int, quick: bool, as_json: bool, serve: bool,
    data: Path | None, report: Path,
) -> bool:  # fmt: skip
    """Play the demo; True where the fleet got better and nothing was lost."""
    console = Console(stderr=as_json)
    devices = devices or (QUICK_DEVICES if quick else DEVICES)
    fleet = build_fleet(devices=devices, seed=seed, models=QUICK_MODELS if quick else None)
    started = clock.now()
    token = secrets.token_urlsafe(24)
    with (
        _installation(data, token) as settings,
        _engine(settings) as engine,
        running_server(settings, port=_port(serve)) as server,
    ):
        console.print(f"[bold]nnfleet demo[/bold]: {devices:,} phones against {server}, seed {seed}")
        keys = _keys(settings)
        scene = Scene(server, token, engine, fleet, rounds or (QUICK_ROUNDS if quick else ROUNDS), seed, keys)
        with Screen(console) as screen:
            played = play(scene, screen)
        setup = {
            "devices": devices, "classes": len(fleet.device_classes), "models": len(fleet.models), "seed": seed,
            "socs": len({phone.soc for phone in fleet.phones}), "started": f"{started:%Y-%m-%d %H:%M}",
        }  # fmt: skip
        write_report(report, played.verdict, played.findings, setup)
        _tell(console, played, report, as_json)
        if serve:
            _stay_up(console, engine, server, token)
    return played.verdict.passed


def compare_exploration(*, devices: int | None, rounds: int | None, seed: int, quick: bool, as_json: bool) -> bool:
    """Play the demo once for each way to explore, each from nothing; True where ours ended within the goal."""
    console = Console(stderr=as_json)
    devices = devices or (QUICK_DEVICES if quick else DEVICES)
    fleet = build_fleet(devices=devices, seed=seed, models=QUICK_MODELS if quick else None)
    told = {}
    for way in WAYS:
        token = secrets.token_urlsafe(24)
        with _installation(None, token) as settings, _engine(settings) as engine, running_server(settings) as server:
            console.print(f"[bold]nnfleet demo[/bold]: {devices:,} phones, seed {seed}, exploring {way.name}")
            many = rounds or (QUICK_ROUNDS if quick else ROUNDS)
            scene = Scene(server, token, engine, fleet, many, seed, _keys(settings), way)
            with Screen(console) as screen:
                told[way.name] = play(scene, screen).verdict
    print_comparison(console, {name: verdict.rounds for name, verdict in told.items()})
    if as_json:
        typer.echo(json.dumps({name: [row.to_json() for row in verdict.rounds] for name, verdict in told.items()}))
    return told[WHERE_IT_PAYS.name].passed


def bad_release(*, seed: int, as_json: bool, serve: bool, data: Path | None) -> bool:
    """Play a bad release; True where the guard stopped it on the first or second step and undid it."""
    console = Console(stderr=as_json)
    fleet, bad_soc = few_socs(build_fleet(devices=STAGED_DEVICES, seed=seed, models=QUICK_MODELS))
    token = secrets.token_urlsafe(24)
    with (
        _installation(data, token) as settings,
        _engine(settings) as engine,
        running_server(settings, port=_port(serve)) as server,
    ):
        console.print(f"[bold]nnfleet demo[/bold]: {len(fleet.phones)} phones of {SOCS} SoCs, seed {seed}")
        scene = Scene(server, token, engine, fleet, rounds=0, seed=seed, trusted_keys=_keys(settings))
        outcome = play_bad_release(scene, bad_soc, console.print, lambda look: print_look(console, look))
        print_outcome(console, outcome)
        if as_json:
            typer.echo(json.dumps(outcome.to_json()))
        if serve:
            _stay_up(console, engine, server, token)
    return outcome.passed


def _port(serve: bool) -> int:
    """The port that people expect, or a free one where nobody is to come."""
    return SERVED_PORT if serve else 0


def _stay_up(console: Console, engine: Engine, server: str, token: str) -> None:
    """Tell how to look at what the demo left, and return when somebody ends it."""
    password = _admin(engine)
    console.print(f"The server stays up: console {server}/console/ · Ctrl-C ends it.")
    told = f"Sign in as [bold]{ADMIN}[/bold] with the password {password} · token of the API {token}"
    console.print(told, soft_wrap=True)
    wait_for_interrupt()


def _tell(console: Console, played: Play, report: Path, as_json: bool) -> None:
    print_verdict(console, played.verdict, str(report))
    if as_json:
        typer.echo(json.dumps(played.verdict.to_json()))


@contextmanager
def _installation(data: Path | None, token: str) -> Iterator[Settings]:
    """An embedded PostgreSQL and signing keys of the demo's own: a demo never writes into a fleet's real database.

    Without a folder it is a temporary one that goes with the demo.
    """
    folder = data or Path(tempfile.mkdtemp(prefix="nnfleet-demo-"))
    try:
        with embedded_postgresql(folder / "postgresql") as url:
            keys = folder / "signing-keys.json"
            kept_keys(keys)
            yield Settings(database_url=url, manage_token=token, log_level="error", signing_keys=keys)
    finally:
        if data is None:
            shutil.rmtree(folder, ignore_errors=True)


def _admin(engine: Engine) -> str:
    """An account for whoever looks at the demo; returns its password, which is told once."""
    password = secrets.token_urlsafe(12)
    with Session(engine) as session, session.begin():
        if session.get(PersonRow, ADMIN):  # a demo before this one was kept
            people.set_password(session, ADMIN, password, COMMAND_LINE, clock.now())
        else:
            people.create(session, NewPerson(ADMIN, Role.ADMIN, password), COMMAND_LINE, clock.now())
    return password


def _keys(settings: Settings) -> Mapping[str, bytes]:
    """What the apps of the fleet ship to check signatures with."""
    return SigningKeys.read(settings.signing_keys).trusted() if settings.signing_keys else {}


@contextmanager
def _engine(settings: Settings) -> Iterator[Engine]:
    engine = make_engine(settings)
    try:
        schema.upgrade(engine)
        yield engine
    finally:
        engine.dispose()
