"""Which facts of a phone decide: phones that are equal in these are told the same of a change."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from policies.document import PolicyDocument
from policies.facts import device_roots
from policies.fingerprint import Fingerprint
from policies.rules.deny import device_key
from policies.silicon import Accelerator
from policies.simulating.basis import Proposed

_OF_DRIVERS = frozenset({"accelerators", "arm"})
"""Roots below which conditions find everything about a driver."""


class Reads:
    """The facts that either side of a change reads, of one app."""

    def __init__(self, proposed: Proposed) -> None:
        documents = [basis.document for basis in proposed.both if basis.document is not None]
        self._proposed = proposed
        self._named = {root: None if _whole(documents, root) else _facts(documents, root) for root in _roots(documents)}
        self._cohorts = _cohort_facts(documents)
        self._versions = any(deny.cohort.driver_versions for document in documents for deny in document.denies)
        self._targets = any(v.targets for basis in proposed.both for spec in basis.models for v in spec.variants)

    @property
    def builds(self) -> bool:
        """Whether a condition asks for the firmware's build, of which a class has many."""
        named = self._named.get("device", frozenset())
        return named is None or "build" in named

    def key(self, facts: Fingerprint) -> Hashable:
        """Equal for two phones only where both are told the same."""
        stack = facts.driver_stack
        learned = any(stack in basis.learned for basis in self._proposed.both)
        cohort = device_key(facts)
        return (
            stack if learned else None,
            facts.soc if self._targets else None,
            facts.nnapi_level,
            facts.gpu is None,
            tuple(self._driver(one) for one in facts.accelerators),
            tuple((runtime.delegate, runtime.presence) for runtime in facts.runtimes),
            facts.hints.get("npu_fp16"),
            facts.learnable,
            facts.cpu_cores,
            *(cohort[place] for place in self._cohorts),
            *self._asked(facts),
        )

    def _driver(self, one: Accelerator) -> Hashable:
        told = (
            *(one.name, one.kind, one.level, one.int8, one.fp16, one.probe_status, one.support_key),
            one.no_faster_than_cpu,
        )
        if self._named.keys() & _OF_DRIVERS:
            return (*told, one.raw_name, one.driver_version)
        return (*told, one.driver_version) if self._versions else told

    def _asked(self, facts: Fingerprint) -> Iterator[str]:
        """What conditions name of the device and its GPU, as text: lists and numbers compare alike."""
        roots = device_roots(facts)
        for root, named in sorted(self._named.items()):
            if root in roots and root not in _OF_DRIVERS:
                whole = roots[root]
                yield repr(whole if named is None else [whole.get(fact) for fact in sorted(named)])


def _roots(documents: list[PolicyDocument]) -> set[str]:
    return {root for document in documents for root in document.standing.named}


def _whole(documents: list[PolicyDocument], root: str) -> bool:
    return any(document.standing.named.get(root, ()) is None for document in documents)


def _facts(documents: list[PolicyDocument], root: str) -> frozenset[str]:
    return frozenset().union(*(document.standing.named.get(root) or () for document in documents))


def _cohort_facts(documents: list[PolicyDocument]) -> list[int]:
    """Places in `device_key` that a deny's cohort names."""
    stated = [deny.cohort.of_device for document in documents for deny in document.denies]
    return sorted({place for facts in stated for place, values in enumerate(facts) if values})
