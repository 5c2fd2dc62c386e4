"""A runner of the SDK that executes arms with LiteRT, each in a child process of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from nnfleet_client import ArmFailed, Executed, GoldenResult, Init
from nnfleet_litert.artifacts import Artifacts
from nnfleet_litert.golden import GoldenReference
from nnfleet_litert.process import Child
from nnfleet_litert.weights import Place, WeightCache

DELEGATES: Final = frozenset({"cpu", "gpu"})
CACHED: Final = frozenset({"cpu"})
"""Those that can keep what they compiled: the GPU accelerator has a cache, which LiteRT's Python package does not reach."""
DEFAULT_LIMIT_MS: Final = 60_000
ASKING_MS: Final = 10_000


class LiteRtRunner:
    """Starts arms of the runtime `litert` on the CPU (XNNPACK) and on the GPU accelerator that the package carries.

    A driver that aborts takes the child along: `start` or a run then raises ProcessDied, and the SDK keeps the mark of the
    start. One that hangs is killed after the arm's own limit and raises RunTimeout. `golden` is None where no reference is
    at hand, `weights` where everything is to be compiled anew each time.
    """

    def __init__(
        self, artifacts: Artifacts, golden: GoldenReference | None = None, weights: WeightCache | None = None
    ) -> None:
        self._artifacts = artifacts
        self._golden = golden
        self._weights = weights

    def start(self, model: str, arm_id: str, arm: Mapping[str, Any]) -> LiteRtSession:  # noqa: ARG002
        """Fetch the file, load and compile it. Raises ArmFailed, RunTimeout or ProcessDied."""
        if arm.get("runtime") != "litert" or arm.get("delegate") not in DELEGATES:
            raise ArmFailed("load", f"no {arm.get('runtime')}:{arm.get('delegate')} here")
        if "variant" not in arm:
            raise ArmFailed("load", "no-file-named")  # an app's own default names none, where its runner knows the file
        file = self._artifacts.path(arm["variant"])
        child = Child()
        try:
            return LiteRtSession(child, arm, file, self._golden, self._weights)
        except BaseException:
            child.close()
            raise


class LiteRtSession:
    """One arm that was started."""

    def __init__(
        self,
        child: Child,
        arm: Mapping[str, Any],
        file: Path,
        golden: GoldenReference | None = None,
        weights: WeightCache | None = None,
    ) -> None:
        self._child = child
        self._arm = arm
        self._delegate = str(arm["delegate"])
        self._run_timeout_ms = self._limit("run_timeout_ms")
        self._golden = golden
        self._told: Mapping[str, Any] = {}
        place = weights.place(arm) if weights and self._delegate in CACHED else None
        if weights is None or place is None:
            self._started, self._cache_hit = self._start(file, None), False
        else:
            self._started, self._cache_hit = self._start_cached(file, weights, place)

    def _start_cached(self, file: Path, weights: WeightCache, place: Place) -> tuple[Mapping[str, Any], bool]:
        try:
            started = self._start(file, place.path)
        except BaseException:  # a process that died, too: the weights may be what killed it
            weights.discard(place)
            raise
        return started, weights.keep(place)

    def _start(self, file: Path, weights: Path | None) -> Mapping[str, Any]:
        return self._child.ask(
            "compile",
            self._limit("compile_timeout_ms"),
            do="start",
            file=str(file),
            delegate=self._delegate,
            threads=int(self._arm.get("options", {}).get("threads", 1)),
            weights=str(weights) if weights else None,
        )

    def _limit(self, name: str) -> float:
        return float(self._arm.get("limits", {}).get(name, DEFAULT_LIMIT_MS))

    @property
    def init(self) -> Init:
        """What the start cost, and whether it found its weights packed."""
        known = self._known()
        return Init(self._started["load_us"], self._started["compile_us"], self._cache_hit, known.get("first_run_us"))

    @property
    def executed(self) -> Executed:
        """Who ran, read back from the interpreter; of a GPU, which device LiteRT selected."""
        said = dict(self._known().get("executed", {}))
        by = said.pop("by", None) or f"litert-{self._delegate}:{self._child.adapter() or 'unknown'}"
        return Executed(by, **said)

    @property
    def memory_peak_kb(self) -> int:
        """Peak memory beside Python's own, in KiB."""
        return int(self._known().get("memory_peak_kb", 0))

    def run(self) -> int:
        """Run once; the latency in µs."""
        return int(self._child.ask("run", self._run_timeout_ms, do="run")["latency_us"])

    def golden(self) -> GoldenResult | None:
        """Run on the fixed input and compare; None without a reference."""
        if self._golden is None:
            return None
        checked = self._child.ask(
            "run",
            self._run_timeout_ms,
            do="golden",
            inputs=str(self._golden.inputs),
            outputs=str(self._golden.outputs),
            tolerance=self._golden.tolerance,
        )
        return GoldenResult(**checked)

    def close(self) -> None:
        """End the child."""
        self._child.close()

    def _known(self) -> Mapping[str, Any]:
        """What the child says at the end; empty of a child that was killed for hanging."""
        if not self._told and self._child.alive:
            self._told = self._child.ask("close", ASKING_MS, do="told")
        return self._told
