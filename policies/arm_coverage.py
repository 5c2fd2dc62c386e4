"""What is known of an arm's coverage before it ran: measured on this very driver, else mapped by feature level."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from policies.arm import Arm
from policies.coverage import FP16_WEIGHTS, coverage, only
from policies.default_rule import UNKNOWN_COVERAGE, ArmCoverage
from policies.graph import ModelGraph
from policies.settings_of_arm import MAX_PARTITIONS
from policies.support import nnapi_support, support_by_level
from policies.vocabulary import Delegate


@dataclass(frozen=True, slots=True)
class _Question:
    """A variant on a driver. The graph follows from the digest: it is neither hashed nor compared."""

    graph_digest: str
    supports: tuple[tuple[str, tuple[str, ...]], ...] | None
    level: int | None
    graph: ModelGraph = field(compare=False)


@dataclass(frozen=True, slots=True)
class _Partitioning:
    """A variant and the keys that a driver takes of it. The graph follows from the digest here too."""

    graph_digest: str
    taken: frozenset[str]
    graph: ModelGraph = field(compare=False)


def arm_coverages(arms: Iterable[Arm]) -> dict[str, ArmCoverage]:
    """Coverage by arm id; arms that nothing is known of are left out."""
    known = ((arm.id, arm_coverage(arm)) for arm in arms)
    return {arm_id: found for arm_id, found in known if found is not UNKNOWN_COVERAGE}


def arm_coverage(arm: Arm) -> ArmCoverage:
    """Coverage of one arm. NNAPI drivers are asked by operation; other delegates answer only by running."""
    graph, accelerator = arm.variant.model_graph, arm.accelerator
    if arm.delegate is not Delegate.NNAPI or graph is None or accelerator is None:
        return UNKNOWN_COVERAGE
    return _answer(_Question(arm.variant.graph_digest, accelerator.support_key, accelerator.level, graph))


@lru_cache(maxsize=65_536)
def _answer(question: _Question) -> ArmCoverage:
    if question.supports is not None:
        support, basis = nnapi_support(dict(question.supports), question.level), "measured"
    elif question.level is not None:
        support, basis = support_by_level(question.level), "mapped"
    else:
        return UNKNOWN_COVERAGE
    # An operation that nobody knows about stays on the CPU until a driver says that it takes it.
    taken = frozenset(key for key in {node.key for node in question.graph.nodes} if support(key))
    share, cuts = _partitioned(_Partitioning(question.graph_digest, taken, question.graph))
    return ArmCoverage(share, cuts, basis)


@lru_cache(maxsize=65_536)
def _partitioned(asked: _Partitioning) -> tuple[float, int]:
    """Share of nodes delegated and cuts. Few sets of operations are ever refused, so that most drivers share these."""
    found = coverage(
        asked.graph, only(asked.taken), max_partitions=MAX_PARTITIONS, fp16_weights=FP16_WEIGHTS[Delegate.NNAPI]
    )
    return found.delegated_share, found.cut_count
