"""`nnfleet device run`: this machine as a device of the fleet, with real runs."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import httpx
import typer

from nnfleet_client import ArmFailed, FleetClient, Settings, Step, Transport
from nnfleet_litert.artifacts import Artifacts
from nnfleet_litert.device import Use, use
from nnfleet_litert.golden import GoldenReference, golden_reference
from nnfleet_litert.machine import machine_report
from nnfleet_litert.runner import LiteRtRunner
from nnfleet_litert.weights import WeightCache

TIMEOUT_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says. `files` is None where everything comes from the server; without `unit` each use draws one."""

    server: str
    app: str
    model: str
    rounds: int
    runs: int
    workload: str
    folder: Path
    files: Path | None
    report: Path | None
    unit: str | None


def run(asked: Asked, as_json: bool) -> bool:
    """Ask, run and report, once a round; returns whether every round was served and nothing waits to be sent."""
    if find_spec("ai_edge_litert") is None:
        raise typer.BadParameter("LiteRT is not installed: it comes with the extra `litert`")
    report = asked.report.read_bytes() if asked.report else machine_report()
    with ExitStack() as open_, httpx.Client(timeout=TIMEOUT_S) as http:
        transport = Transport(asked.server)
        open_.callback(transport.close)
        artifacts = Artifacts(asked.folder / "artifacts", asked.server, http, asked.files)
        rounds = list(_rounds(asked, report, transport, artifacts))
    well = all(one["served_by"] is not None and one["waiting"] == 0 for one in rounds)
    typer.echo(json.dumps({"rounds": rounds}) if as_json else "\n".join(told_lines(rounds)))
    return well


def write_report(file: Path) -> None:
    """Write this machine's report, for `nnfleet decide` and `nnfleet import`."""
    file.write_bytes(machine_report())


def _rounds(asked: Asked, report: bytes, transport: Transport, artifacts: Artifacts) -> Iterator[dict[str, Any]]:
    """Without a unit, each round is another one: shares are drawn anew, as for as many phones of this kind."""
    golden: GoldenReference | None = None
    weights = WeightCache(asked.folder / "weights")
    for _ in range(asked.rounds):
        client = FleetClient(
            app=asked.app,
            report=report,
            default={asked.model: {"none": {"runtime": "none", "delegate": "none"}}},
            server=transport,
            unit_id=asked.unit or str(uuid.uuid4()),
            settings=Settings(folder=asked.folder / asked.app),
        )
        with closing(client):
            refreshed = client.refresh(force=True)
            plan = client.decision(asked.model)
            if plan.release == 0:
                why = refreshed.error_code or plan.error_code
                raise typer.BadParameter(f"{asked.server} gives no decision for {asked.app}.{asked.model}: {why}")
            golden = golden or _golden(plan.golden, artifacts)
            runner = LiteRtRunner(artifacts, golden, weights)
            used = use(client, asked.model, runner, asked.runs, asked.workload)
            yield _told(plan.release, used) | {"telemetry": asdict(client.flush()), "waiting": client.waiting}


def _golden(stated: Any, artifacts: Artifacts) -> GoldenReference | None:
    """The model's reference; a run without one is a run, too."""
    try:
        return golden_reference(stated, artifacts)
    except ArmFailed as error:
        typer.echo(f"no golden check: {error}", err=True)
        return None


def _told(release: int, used: Use) -> dict[str, Any]:
    outcome = used.outcome
    return {
        "release": release,
        "served_by": outcome.arm_id if outcome else None,
        "deaths": used.deaths,
        "steps": [_step(step) for step in outcome.steps] if outcome else [],
    }


def _step(step: Step) -> dict[str, Any]:
    told: dict[str, Any] = {"arm": step.arm_id, "ending": step.ending.value}
    window = step.window
    if window is None:
        return told
    told |= {"runs": window.count, "failure": window.failure}
    if window.count:
        told["p50_ms"] = round(window.histogram.quantile_us(0.5) / 1000, 3)
    for name in ("init", "executed", "golden"):
        value = getattr(window, name)
        told[name] = asdict(value) if value is not None else None
    return told


def told_lines(rounds: list[dict[str, Any]]) -> Iterator[str]:
    """A line a round, one for each rung that was looked at, and what became of the telemetry."""
    for number, one in enumerate(rounds, start=1):
        yield f"round {number}, release {one['release']}: served by {one['served_by'] or 'nothing'}"
        yield from (f"  {_line(step)}" for step in one["steps"])
        sent = one["telemetry"]
        yield f"  telemetry: {sent['accepted']} accepted, {sent['set_aside']} set aside, {one['waiting']} waiting"


def _line(step: dict[str, Any]) -> str:
    told = [step["arm"], step.get("failure") or step["ending"]]
    if "p50_ms" in step:
        told.append(f"p50 {step['p50_ms']} ms over {step['runs']} runs")
    if step.get("executed"):
        ran = step["executed"]
        told.append(f"{ran['by']}: {ran['delegated_nodes']} of {ran['total_nodes']} nodes, pieces: {ran['partitions']}")
    if step.get("init"):
        how = "from the cache" if step["init"]["cache_hit"] else "anew"
        told.append(f"compiled {how} in {step['init']['compile_us'] / 1000:.1f} ms")
    if step.get("golden"):
        told.append(f"golden error {step['golden']['max_rel_error']:.2g}")
    return ", ".join(told)
