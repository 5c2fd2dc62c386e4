"""What running one arm of one model on one class of phones is like, without noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Truth:
    """Noise-free behaviour. Times in microseconds; `hot_factor` multiplies a run once the phone is hot.

    `failure`: None, "compile_failed", "timeout" or "process_died". `golden_error` is the largest relative error of
    the outputs, `golden_passes` whether the check accepts it. `accurate` is whether the variant keeps the model's
    accuracy budget.
    """

    executed_by: str
    delegated_nodes: int
    total_nodes: int
    partitions: int
    steady_us: float
    hot_factor: float
    hot_status: int
    load_us: float
    compile_cold_us: float
    compile_cached_us: float
    first_run_us: float
    golden_error: float
    memory_kb: int
    golden_passes: bool = True
    accurate: bool = True
    failure: str | None = None

    @property
    def acceptable(self) -> bool:
        """Whether the arm runs, is right, and is accurate enough: only then is its speed worth anything."""
        return self.failure is None and self.golden_passes and self.accurate

    def expected_us(self, workload: str) -> float:
        """Expected time of a warm run; a sustained session settles at its hot time."""
        return self.steady_us * (self.hot_factor if workload == "sustained" else 1.0)


class Bench(Protocol):
    """The arms that exist on a class of phones and what each is like."""

    def arms(self, app: str, model: str) -> tuple[str, ...]:
        """Arm ids that exist for the model, in a stable order."""

    def truth(self, app: str, model: str, arm: str) -> Truth | None:
        """Behaviour of the arm, None where it does not exist there."""
