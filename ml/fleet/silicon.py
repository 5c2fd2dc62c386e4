"""The time model: what one run costs on one processor, and what starting costs.

    time = Σ over delegated partitions (work ÷ throughput(accelerator, type) + dispatch)
         + work left ÷ throughput(CPU, type) + cuts × hand-over

Work is multiply-accumulates; a depthwise convolution counts 1 ÷ `depthwise` times, since it reuses no weights. The
form is the roofline of Williams et al. (CACM 2009) without its memory side, plus the fixed costs of NNAPI.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from policies.graph import Node

DEPTHWISE = "DEPTHWISE_CONV_2D"
INTEGER_TYPES = frozenset({"int8", "uint8"})


@dataclass(frozen=True)
class Work:
    """What a set of operations asks of a processor: how many, and multiply-accumulates by type and kind."""

    nodes: int = 0
    float_macs: int = 0
    float_depthwise_macs: int = 0
    int8_macs: int = 0
    int8_depthwise_macs: int = 0

    @classmethod
    def of(cls, nodes: Iterable[Node]) -> Self:
        """The work of these nodes."""
        macs = Counter[tuple[bool, bool]]()
        count = 0
        for node in nodes:
            macs[node.activation in INTEGER_TYPES, node.op == DEPTHWISE] += node.macs
            count += 1
        return cls(count, macs[False, False], macs[False, True], macs[True, False], macs[True, True])


@dataclass(frozen=True)
class StartUp:
    """Compiling: `base_ms` plus `node_ms` per operation, milliseconds; `cached_share` of it remains with a cache."""

    base_ms: float
    node_ms: float
    cached_share: float

    def cold_us(self, nodes: int) -> float:
        """Microseconds to compile `nodes` operations for the first time."""
        return 1e3 * (self.base_ms + self.node_ms * nodes)


@dataclass(frozen=True)
class Engine:
    """One processor as one driver offers it.

    `float_gmacs` and `int8_gmacs` are effective giga multiply-accumulates per second (0: the type is not computed),
    `depthwise` the share of them that a depthwise convolution reaches, `node_us` the fixed cost of an operation,
    `dispatch_us` of a call, `cut_us` of a hand-over between this processor and the CPU.
    """

    float_gmacs: float
    int8_gmacs: float
    depthwise: float
    node_us: float
    dispatch_us: float
    cut_us: float
    start: StartUp

    def work_us(self, work: Work) -> float:
        """Microseconds to compute `work`, without calls and hand-overs. Raises ZeroDivisionError for a type it lacks."""
        total = self.node_us * work.nodes
        if work.float_macs or work.float_depthwise_macs:
            total += (work.float_macs + work.float_depthwise_macs / self.depthwise) / (self.float_gmacs * 1e3)
        if work.int8_macs or work.int8_depthwise_macs:
            total += (work.int8_macs + work.int8_depthwise_macs / self.depthwise) / (self.int8_gmacs * 1e3)
        return total

    def times(self, **factors: float) -> Self:
        """The engine with some of its numbers multiplied, by field name."""
        return replace(self, **{name: getattr(self, name) * factor for name, factor in factors.items()})


@dataclass(frozen=True)
class Split:
    """How a runtime cuts a graph: partitions given to the delegate, what stays on the CPU, pieces in all."""

    delegated: Sequence[Work]
    left: Work
    pieces: int

    @property
    def delegated_nodes(self) -> int:
        """Operations given away."""
        return sum(partition.nodes for partition in self.delegated)

    @property
    def nodes(self) -> int:
        """All operations."""
        return self.delegated_nodes + self.left.nodes

    @property
    def cuts(self) -> int:
        """Hand-overs of one run."""
        return max(0, self.pieces - 1) if self.delegated else 0


@dataclass(frozen=True)
class Steady:
    """One warm run, microseconds, and the share of it that hand-overs take."""

    total_us: float
    cut_us: float

    @property
    def cut_share(self) -> float:
        """Over 5 % is a warning (NNAPI field guide)."""
        return self.cut_us / self.total_us


def steady(split: Split, accelerator: Engine, cpu: Engine) -> Steady:
    """Time of one warm run of a split graph."""
    cut_us = split.cuts * accelerator.cut_us
    delegated_us = sum(accelerator.work_us(partition) + accelerator.dispatch_us for partition in split.delegated)
    return Steady(delegated_us + cpu.work_us(split.left) + cut_us, cut_us)


def compile_us(split: Split, accelerator: Engine, *, cached: bool) -> float:
    """Microseconds to prepare the delegated partitions; 0 where the delegate took none."""
    if not split.delegated:
        return 0.0
    cold = accelerator.start.cold_us(split.delegated_nodes)
    return cold * accelerator.start.cached_share if cached else cold
