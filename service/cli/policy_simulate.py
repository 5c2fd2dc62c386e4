"""`nnfleet policy simulate`: what a file would change on the fleet that a server has stored."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import typer

from policies import strict_json
from policies.revision import Kind
from service.cli.policy_file import policy_in
from service.cli.remote import Refused, Remote, stated_token
from service.releasing.stated_content import policy_content

_MAX_BYTES: Final = 8 * 1024 * 1024
_MAX_DEPTH: Final = 12
LOOKED_EVERY_S: Final = 0.5
_LINES: Final = 12
"""Transitions and classes that are printed; `--json` has more."""


def simulate(server: str, file: Path, kind: Kind, budget_s: float, as_json: bool) -> bool:
    """Print what would change; always True."""
    asked = {"kind": kind, "content": _content(file, kind), "budget_s": budget_s, "wait": False}
    remote = Remote(server, stated_token())
    found = _awaited(remote, remote.send("POST", "/v1/simulations", asked).body)
    typer.echo(json.dumps(found, ensure_ascii=False) if as_json else "\n".join(_told(found)))
    return True


def _awaited(remote: Remote, run: dict[str, Any]) -> dict[str, Any]:
    """What a run found. How far it is goes to standard error; raises Refused where it ends otherwise."""
    told = -1
    while run["state"] == "running":
        if run["reports_done"] != told:
            told = run["reports_done"]
            typer.echo(f"{run['share_done']:4.0%}: {told:,} reports decided, {run['reports_left']:,} left", err=True)
        time.sleep(LOOKED_EVERY_S)
        run = remote.send("GET", f"/v1/simulations/{run['simulation']}").body
    if run["state"] == "lost":
        raise Refused(f"the worker ended after {run['reports_done']:,} reports, and the simulation with it: ask again")
    if run["state"] != "done":
        raise Refused(f"the simulation failed: {run['why']}")
    found: dict[str, Any] = run["found"]
    return found


def _content(file: Path, kind: Kind) -> Any:
    if kind is Kind.POLICY:
        return policy_content(policy_in(file))
    return strict_json.loads(file.read_bytes(), max_bytes=_MAX_BYTES, max_depth=_MAX_DEPTH)


def _told(found: dict[str, Any]) -> Iterator[str]:
    seen = found["seen"]
    yield f"against release {found['release']}: {seen['reports']:,} reports of {seen['classes']:,} device classes"
    if found["sampled"]:
        yield f"a sample: {found['reports_total']:,} reports are stored, and the time was over after {seen['reports']:,}"
    for effect, count in found["changed"].items():
        yield f"{effect:15} {_share(count['reports'], seen['reports'])} of reports, {count['classes']:,} classes"
    yield f"{'unchanged':15} {_share(found['unchanged_reports'], seen['reports'])} of reports"
    yield from _latency(found["latency"])
    for row in found["transitions"][:_LINES]:
        yield f"{row['model']} {row['effect']}: {_arm(row['before'])} → {_arm(row['after'])}, {row['reports']:,} reports"
    for row in found["worse"][:_LINES]:
        ratio = f"{row['ratio']:.2f} ×" if row["ratio"] else row["effect"]
        yield f"worse: class {row['device_class']}, {row['model']}: {ratio}"
    for row in found["stated"]:
        yield f"{row['what']} {row['id']}: {row['reports']:,} reports"
    for change in found["terms"]:
        yield f"every phone: {change['path']}: {json.dumps(change['before'])} → {json.dumps(change['after'])}"


def _latency(figures: dict[str, Any]) -> Iterator[str]:
    known, unknown = figures["known_reports"], figures["unknown_reports"]
    if known:
        regret = f"mean regret {figures['before_regret']:.3f} × → {figures['after_regret']:.3f} ×"
        yield f"of what changes: {regret}, known for {known:,} and unknown for {unknown:,} (report, model)"
    elif unknown:
        yield f"of what changes nothing was measured: {unknown:,} (report, model)"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:6.1%}" if whole else "     –"


def _arm(rung: dict[str, str] | None) -> str:
    return rung["arm"] if rung else "nothing"
