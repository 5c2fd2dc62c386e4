"""A bad release: files that are slower on one SoC are rolled out in steps, and nobody but the guard looks."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import Any, Final

import httpx
import numpy as np

from ml.fleet import Fleet, Phone
from policies.rollouts.guardrails import Judgement
from policies.rollouts.rollout import Act, Measure
from policies.rollouts.staging import Side, parted
from service import clock
from service.cli.demo.ledger import Ledger, NotingTransport
from service.cli.demo.play import Scene
from service.cli.demo.rounds import handsets, run_round
from service.cli.demo.runner import PhoneRunner, PhoneSession
from service.cli.demo.stage import Operator
from service.releasing.rollouts import guard

SLOWER: Final = 1.3
"""What the candidate's files cost on the one SoC; on all others they cost what the old ones do."""
STEPS: Final = (
    {"share_bp": 1_000, "min_minutes": 0, "min_windows": 300},
    {"share_bp": 3_000, "min_minutes": 0, "min_windows": 900},
    {"share_bp": 6_000, "min_minutes": 0, "min_windows": 1_800},
)
SOCS: Final = 4
PHONES_A_SOC: Final = 60
MOST_LOOKS: Final = 20
LATEST_STEP: Final = 1
"""The guard has to stop it on the first or the second step."""


@dataclass(frozen=True)
class Look:
    """One look of the guard: what it saw and did. Evidence and what is needed as powers of ten."""

    look: int
    step: int
    share_bp: int
    release: int
    candidate_windows: int
    ratio: float
    cohort: str
    cohort_ratio: float
    evidence_log10: float
    needed_log10: float
    act: str | None
    because: str
    seconds: float


@dataclass(frozen=True)
class Outcome:
    """What became of the rollout. `undone`: release `ended_with` gives everybody what `began_with` gave them."""

    bad_soc: str
    phones: int
    looks: tuple[Look, ...]
    state: str
    because: str
    began_with: int
    ended_with: int
    undone: bool

    @property
    def passed(self) -> bool:
        """Stopped for its latency on the first or second step, and everybody has the old files again."""
        last = self.looks[-1]
        return self.state == "stopped" and last.step <= LATEST_STEP and self.undone and "p90-latency" in self.because

    def to_json(self) -> dict[str, Any]:
        """The contract of `nnfleet demo --scenario bad-release --json`."""
        return {
            "scenario": "bad-release",
            "bad_soc": self.bad_soc,
            "slower": SLOWER,
            "phones": self.phones,
            "state": self.state,
            "because": self.because,
            "began_with": self.began_with,
            "ended_with": self.ended_with,
            "undone": self.undone,
            "looks": [asdict(look) for look in self.looks],
        }


def few_socs(fleet: Fleet) -> tuple[Fleet, str]:
    """(the phones of the commonest SoCs without a planted fault, the SoC that the candidate is slow on)."""
    faulty = {soc for fault in fleet.faults for soc in fault.socs}
    common = [soc for soc, _ in Counter(p.soc for p in fleet.phones).most_common() if soc not in faulty][:SOCS]
    phones = [phone for soc in common for phone in [p for p in fleet.phones if p.soc == soc][:PHONES_A_SOC]]
    return replace(fleet, phones=tuple(phones)), common[0]


def play(scene: Scene, bad_soc: str, tell: Callable[[str], None], told: Callable[[Look], None]) -> Outcome:
    """Roll the candidate out and let the guard do the rest. Raises httpx.HTTPError where the server does not answer."""

    def runner(phone: Phone, app: str, session_minute: float, rng: np.random.Generator) -> PhoneRunner:
        return CandidateRunner(phone, app, session_minute, rng, bad_soc)

    with httpx.Client(timeout=30) as http:
        operator = Operator(http, scene.server, scene.token)
        operator.register(scene.fleet.models)
        good = operator.publish("files that everybody has")
        tell(f"release {good}: everybody has the old files")
        phones = handsets(
            scene.fleet, NotingTransport(scene.server, http, Ledger()), scene.seed, scene.trusted_keys, runner
        )
        run_round(phones, lambda: None)
        operator.register([_other_files(spec) for spec in scene.fleet.models], policies=False)
        rollout = operator.roll_out(f"new files, {SLOWER:g} × as slow on {bad_soc}", STEPS)
        tell(f"rollout {rollout['rollout']}: new files, step by step; on {bad_soc} they take {SLOWER:g} × as long")
        looks: list[Look] = []
        started = time.monotonic()
        while len(looks) < MOST_LOOKS and not (looks and looks[-1].act in {Act.STOP, Act.COMPLETE}):
            before = operator.rollout(rollout["rollout"])
            run_round(phones, lambda: None)
            judged = guard(scene.engine, clock.now(), timedelta(0))
            if judged is None:
                break
            looks.append(_look(len(looks) + 1, before, judged, time.monotonic() - started))
            told(looks[-1])
        ended = operator.rollout(rollout["rollout"])
        digests = operator.digests()
    last = ended["timeline"][-1]
    undone = digests[last["release"]] == digests[good]
    phone_count, because = len(scene.fleet.phones), last.get("because", "")
    return Outcome(bad_soc, phone_count, tuple(looks), ended["state"], because, good, last["release"], undone)


def _look(number: int, rollout: Mapping[str, Any], judged: Judgement, seconds: float) -> Look:
    latency = next(reading for reading in judged.readings if reading.measure is Measure.P90_LATENCY)
    told = latency.to_json()
    releases = [event["release"] for event in rollout["timeline"] if "release" in event]
    return Look(
        look=number,
        step=rollout["step"],
        share_bp=rollout["share_bp"],
        release=releases[-1],
        candidate_windows=judged.candidate_windows,
        ratio=told["ratio"],
        cohort=told["cohort"],
        cohort_ratio=told["cohort_ratio"],
        evidence_log10=told["evidence_log10"],
        needed_log10=told["needed_log10"],
        act=judged.act,
        because=judged.because,
        seconds=round(seconds, 1),
    )


def _other_files(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The model as somebody exported it anew: other bytes under the same names."""
    variants = [v | {"sha256": hashlib.sha256(v["sha256"].encode()).hexdigest()} for v in spec["variants"]]
    return {**spec, "variants": variants}


class CandidateRunner(PhoneRunner):
    """A phone that knows both files: the candidate's are slow on one SoC, and the phone reports what it measures."""

    def __init__(self, phone: Phone, app: str, session_minute: float, rng: np.random.Generator, bad_soc: str) -> None:
        super().__init__(phone, app, session_minute, rng)
        self._bad = phone.soc == bad_soc

    def start(self, model: str, arm_id: str, arm: Mapping[str, Any]) -> PhoneSession:
        """Start an arm of either side."""
        session = super().start(model, arm_id, arm)
        side = parted(arm_id)[1]
        if self._bad and self.last is not None and side in {Side.CANDIDATE, Side.CANDIDATE_EXPLORE}:
            self.last = replace(self.last, runs_us=self.last.runs_us * SLOWER)
            return PhoneSession(self.last)
        return session
