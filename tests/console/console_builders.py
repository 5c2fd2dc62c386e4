"""Fill a database as the HTTP API would: reports, models, policies, learning runs, releases."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from builders import make_observation, uuid7
from sqlalchemy import Engine
from sqlmodel import Session

from policies.document import PolicyDocument
from policies.fingerprint import Fingerprint, fingerprint
from policies.knowledge import Ranking
from policies.model import ModelSpec
from policies.report import parse_report, report_id
from policies.revision import Kind
from policies.rollouts.rollout import Act, RolloutPlan
from service import clock
from service.deciding.lookup import Lookup
from service.identity.actor import MANAGE_TOKEN
from service.intake.intake import Intake
from service.jobs.rollup import roll_up
from service.jobs.run import Steps, figures_of, recorded
from service.releasing.publishing import publish
from service.releasing.release_content import pack_rankings
from service.releasing.releases import load
from service.releasing.revisions import Proposal, propose, recommend
from service.releasing.rollouts import guard, start, steer
from service.settings import Settings
from service.store import reports, tallies
from service.store.findings import finding_id, note
from service.store.partitions import day_of
from service.store.tables import ObservationRow, RoundRow

NOW = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
SUPPORTS = {"CONV_2D": ["TENSOR_FLOAT32", "TENSOR_QUANT8_ASYMM"], "SOFTMAX": ["TENSOR_FLOAT32"]}


def report(model: str = "Pixel 8", soc: str = "Tensor G3", *, api: int = 34, driver: str = "google-edgetpu") -> bytes:
    """The bytes of a valid report."""
    return json.dumps(
        {
            "schema": 1,
            "device": {
                "manufacturer": "Google", "model": model, "soc_model": soc, "api_level": api, "abis": ["arm64-v8a"],
                "ram_mb": 8192, "cpu": {"cores": 8, "features": ["fp16", "dotprod"]},
            },
            "nnapi": {
                "runtime_feature_level": 1000006,
                "devices": [
                    {"name": driver, "type": "accelerator", "version": "2.0", "feature_level": 31, "supports": SUPPORTS}
                ],
            },
            "gpu": {"renderer": "Mali-G715", "gles": "3.2"},
            "runtimes": {"edgetpu": None},
        }
    ).encode()  # fmt: skip


def model_spec(app: str = "camera", name: str = "mobilenet") -> dict[str, Any]:
    return {
        "app": app, "name": name, "task": "image-classification", "family": "mobilenet", "latency_target_ms": 30.0,
        "variants": [
            {"id": f"{name}-fp32", "precision": "fp32", "format": "tflite", "sha256": "a" * 64, "size_bytes": 13_620_800},
            {"id": f"{name}-int8", "precision": "int8", "format": "tflite", "sha256": "b" * 64, "size_bytes": 3_500_000},
        ],
    }  # fmt: skip


def finding(name: str = "wrong-output", soc: str = "tensor-g3", detail: str = "5 of 5 windows fail") -> dict[str, Any]:
    return {
        "name": name, "soc": soc, "arms": ["int8.*.nnapi.google-edgetpu"], "p_value": 1e-10, "windows": 5432,
        "detail": detail, "evidence": [{"model": "mobilenet", "checks": 12}],
    }  # fmt: skip


def model_finding() -> dict[str, Any]:
    """A file that is wrong through NNAPI on three SoCs."""
    of = {"format": "tflite", "model": "camera/mobilenet"}
    return finding("model-wrong-output", "*", "wrong on 3 of 3 SoCs") | {
        "arms": ["fp32.tflite.nnapi.*"], "of": of, "socs": ["sm8150", "sm8250", "sm7125"],
        "quarantine": {"target": "nnapi.*", "precision": "fp32", **of},
    }  # fmt: skip


FINDING: str = finding_id(finding())
"""What the finding of `Stage.fill` is called."""


@dataclass(frozen=True)
class Stage:
    """Writes what a test needs and publishes it."""

    engine: Engine
    lookup: Lookup

    def add_report(self, body: bytes) -> tuple[str, Fingerprint]:
        facts = fingerprint(parse_report(body))
        with Session(self.engine) as session, session.begin():
            reports.store_report(session, report_id(body), body, facts, NOW)
        return report_id(body), facts

    def add_model(self, spec: Mapping[str, Any], **policy: Any) -> None:
        with Session(self.engine) as session, session.begin():
            model = ModelSpec.model_validate(spec)
            document = PolicyDocument.model_validate({"app": model.app, **policy})
            for kind, subject, stated in (
                (Kind.MODEL, f"{model.app}/{model.name}", model),
                (Kind.POLICY, model.app, document),
            ):
                content = stated.model_dump(mode="json", by_alias=True)
                propose(session, Proposal(kind, subject, content, "stated"), MANAGE_TOKEN, NOW)

    def add_learning_run(self, rankings: Mapping[str, Any], findings: list[dict[str, Any]], /, **figures: Any) -> int:
        with Session(self.engine) as session, session.begin():
            number = recommend(session, pack_rankings(rankings), {"findings": findings} | figures, NOW)
            note(session, findings, NOW, number)
        return number

    def measure(self, report_id: str, number: int = 1, **changes: Any) -> None:
        """Send so many windows as a phone would, and roll them up."""
        told = {"report_id": report_id, "model": "mobilenet"} | changes
        records = [make_observation(**told) for _ in range(number)]
        taken = Intake.of(self.engine, Settings("")).take(json.dumps(records).encode(), "", clock.now(), ndjson=False)
        assert taken.accepted == number
        figures_of(roll_up(self.engine, clock.now(), clock.now()))

    def add_rounds(self, number: int) -> None:
        with Session(self.engine) as session, session.begin():
            for played in range(number):
                figures = {
                    "round": played, "release": played + 1, "mean_regret": 2.0 - played / 10, "p95_regret": 4.5 - played / 5,
                    "within_1_1": 0.5 + played / 20, "target_met": 0.75, "uses": 12_345,
                }  # fmt: skip
                session.add(RoundRow(release=played + 1, figures=figures, noted_at=NOW))

    def publish(self, note: str = "first of all") -> int:
        number = publish(self.engine, note, NOW)
        content = load(self.engine)
        assert content is not None
        self.lookup.swap(content)
        return number

    def fill(self) -> tuple[str, Fingerprint]:
        """A small fleet with one of everything; returns the first report's id and facts."""
        first = self.add_report(report())
        self.add_report(report("Pixel 7", "Tensor G2", api=33))
        self.add_report(report("Mystery", "XY 9000", driver="xy-npu"))
        self.add_model(model_spec())
        self.add_rounds(4)
        self.learn(first[1], findings=[finding()])
        self.publish()
        return first

    def operate(self) -> tuple[str, Fingerprint]:
        """The same, after a rollout that was aborted, a job that ran and a record that was set aside."""
        first = self.fill()
        self.start_rollout()
        steer(self.engine, 1, Act.ABORT, "seen enough", "anna", NOW)
        self.set_aside(first[0], first[1].device_class)
        self.measure(first[0])
        self.run_job("rollup", ["rolled 1 day"], {"observations": 1})
        return first

    def start_rollout(self) -> None:
        """Roll out another latency target for the model, and let the guard look once."""
        self.add_model(model_spec() | {"latency_target_ms": 25.0})
        start(self.engine, RolloutPlan(), "a tighter target", "anna", NOW)
        guard(self.engine, NOW)

    def set_aside(self, report_id: str, device_class: str, reason: str = "negative-latency", **changes: Any) -> None:
        """Store a record of now that was not believed, and count it."""
        told: dict[str, Any] = {
            "app": "camera", "model": "mobilenet", "arm": "int8.tflite.cpu", "kind": "window", "sdk": "python/0.1",
            "set_aside_payload": b'{"latency_us": -5}',
        }  # fmt: skip
        now, record_id = clock.now(), uuid7()
        row = ObservationRow(
            record_id=record_id, day=day_of(record_id), payload_sha256=b"", received_at=now, set_aside=reason,
            report_id=report_id, device_class=device_class, release=1, **(told | changes),
        )  # fmt: skip
        with Session(self.engine) as session, session.begin():
            session.add(row)
            tallies.add(session, now, {("set-aside", reason): 1})

    def run_job(self, job: str, log: list[str], figures: dict[str, Any]) -> None:
        """A run that said these lines and ended with these figures."""

        def steps() -> Steps:
            for at, line in enumerate(log, start=1):
                yield at / len(log), line
            return figures

        recorded(self.engine, job, steps(), clock.now)

    def learn(
        self, facts: Fingerprint, *, findings: list[dict[str, Any]], model: str = "mobilenet", **ranking: Any
    ) -> None:
        """A learning run that ranks the accelerator before the CPU on the driver stack of `facts`."""
        raw = {
            "ranked": [["int8.tflite.nnapi.google-edgetpu", 4.25, 0.1, 1234], ["int8.tflite.cpu", 11.5, 0.2, 56]],
            "shares": [["int8.tflite.nnapi.google-edgetpu", 9_500, False], ["int8.tflite.cpu", 500, True]],
            "excluded": {},
        } | ranking  # fmt: skip
        Ranking.from_json(raw)
        by_workload = {"burst": raw, "sustained": raw}
        self.add_learning_run({facts.driver_stack: {"camera": {model: by_workload}}}, findings)
