"""What a simulation of many reports costs, against deciding each: `python -m tests.bench.simulations [--reports 100000]`.

Reports are those of the simulated fleet, under as many phones' names as there are to be classes, each class with several
builds and probe times. CPU time of this process; the database, which hands the reports over, is left out. Deciding each is
measured on a few hundred reports and multiplied.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterable, Sequence
from typing import Any, Final

from ml.fleet.fleet import Fleet, build_fleet
from policies.document import parse_document
from policies.fingerprint import fingerprint
from policies.model import ModelSpec
from policies.report import CapabilityReport
from policies.simulating.basis import Basis, Proposed
from policies.simulating.compare import comparisons
from policies.simulating.simulator import Outlook, Simulator
from policies.simulating.tally import Tally
from service.simulating.fleet import StoredReport
from tests.bench.goals import at_most
from tests.bench.stage import machine

APP: Final = "camera"
ALONE: Final = 200
"""Reports that are decided one by one, for the baseline."""
GOAL_RATIO: Final = 0.25
CHANGES: Final[dict[str, dict[str, Any]]] = {
    "a deny for one SoC": {
        "denies": [{"id": "d", "arms": ["*.gpu"], "reason": "hangs", "cohort": {"socs": ["SM8650"]}}]
    },
    "a rule by memory": {"rules": [{"id": "r", "when": "device.ram_gb <= 4", "use": {"ladder": ["*.cpu"]}}]},
    "exploration for all": {"exploration_bp": 300},
}


def stored_reports(fleet: Fleet, reports: int, classes: int) -> list[StoredReport]:
    """Reports in the order of a draw, as digests order them; the class is the name of the phone."""
    kinds = [json.loads(body) for body in sorted({phone.report for phone in fleet.phones})]
    made = []
    for number in range(reports):
        name = f"Phone {number % classes}"
        body = kinds[number % classes % len(kinds)]
        device = body["device"] | {
            "model": name,
            "build_fingerprint": f"{body['device']['build_fingerprint']}/{number}",
        }
        made.append(StoredReport(name, json.dumps(body | {"device": device}, separators=(",", ":")).encode()))
    random.Random(0).shuffle(made)
    return made


def simulated(change: Proposed, reports: Iterable[StoredReport]) -> tuple[Tally, int]:
    """(what would change, combinations decided), as `service.simulating.simulations` finds it."""
    simulator, tally = Simulator([change]), Tally()
    known: dict[object, Outlook] = {}
    for report in reports:
        key = report.key(builds=simulator.reads_builds)
        if key not in known:
            known[key] = simulator.outlook(report.fingerprint())
        tally.add(known[key], 1.0)
    return tally, simulator.decided


def alone_us(change: Proposed, reports: Sequence[StoredReport]) -> float:
    """CPU of fingerprinting and deciding one report for itself, in µs."""
    start = time.process_time()
    for report in reports[:ALONE]:
        comparisons(change, fingerprint(CapabilityReport.model_validate_json(report.body)))
    return 1e6 * (time.process_time() - start) / min(ALONE, len(reports))


def main() -> None:
    """The command line. A missed goal is printed, not an error: a shared machine is no judge."""
    parser = argparse.ArgumentParser(description="What simulations cost.")
    parser.add_argument("--reports", type=int, default=100_000)
    parser.add_argument("--classes", type=int, default=20_000)
    options = parser.parse_args()
    fleet = build_fleet(2000)
    models = tuple(ModelSpec.model_validate(spec) for spec in fleet.models if spec["app"] == APP)
    reports = stored_reports(fleet, options.reports, options.classes)
    before = Basis(parse_document({"app": APP}), models)
    print(f"{options.reports:,} reports of {options.classes:,} classes, {len(models)} models; {machine()}")
    for name, stated in CHANGES.items():
        change = Proposed(APP, before, Basis(parse_document({"app": APP, **stated}), models))
        each_us = alone_us(change, reports)
        start = time.process_time()
        tally, decided = simulated(change, reports)
        took_s = time.process_time() - start
        ratio = took_s * 1e6 / (each_us * len(reports))
        changed = sum(count.reports for count in tally.changed.values()) / len(reports)
        print(
            f"{name}: {took_s:.1f} s CPU, {changed:.1%} of reports change, {decided:,} combinations decided; "
            f"÷ deciding each report: {ratio:.3f} × ({at_most(ratio, GOAL_RATIO, '×')})"
        )


if __name__ == "__main__":
    main()
