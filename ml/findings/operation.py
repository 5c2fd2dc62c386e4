"""Which operation is behind a driver's failures: the one that the graphs which fail have and those which work have not.

A driver that computes CONCATENATION wrongly is wrong on every model with one. Null: the graphs of a cohort that fail hold
an operation no more often than those that do not (Fisher's exact test), Bonferroni over the operations that were there
to suspect. No phone has to check single operations: the models that a fleet runs are the experiment. Where probes did, what
they measured goes before what is inferred.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import exp
from typing import Any, Final

from scipy.stats import hypergeom

from ml.findings.accuracy import NULL_LOG_RATIO
from ml.findings.finding import Finding, cohort_of
from ml.findings.quarantine import FAILS, failing_cells
from ml.findings.seen import Seen
from ml.rollup import Cell
from policies.model import ModelSpec

Graphs = Mapping[tuple[str, str, str], frozenset[str]]
"""(app, model, precision.format) → operations of the file's graph."""

ALPHA: Final = 0.05
OUTLIER: Final = "accuracy-outlier"
WRONG: Final = frozenset({"wrong-output", OUTLIER})
"""Findings that a wrong operation explains; one that crashes or hangs is asked by no probe twice."""


def operations_of(models: Iterable[ModelSpec]) -> dict[tuple[str, str, str], frozenset[str]]:
    """Operations of every file whose graph is known."""
    return {
        (model.app, model.name, f"{variant.precision}.{variant.format}"): frozenset(node.op for node in graph.nodes)
        for model in models
        for variant in model.variants
        if (graph := variant.model_graph) is not None
    }


def with_operations(findings: Sequence[Finding], seen: Seen, graphs: Graphs) -> list[Finding]:
    """The findings; those of failures and of errors with the operation behind them, where there is one.

    SoCs on which the same driver has the same finding are pooled: each of them runs few models.
    """
    failing = {name: failing_cells(seen.of_socs, FAILS[name]) for name in {f.name for f in findings} & FAILS.keys()}
    failing[OUTLIER] = {
        Cell(f.soc, row["app"], row["model"], row["arm"]): row["factor"] > exp(NULL_LOG_RATIO)
        for f in findings
        if f.name == OUTLIER
        for row in f.evidence
    }
    return [_blamed(f, findings, failing[f.name], graphs, seen) if f.name in failing else f for f in findings]


def _blamed(
    finding: Finding, findings: Sequence[Finding], cells: Mapping[Cell, bool], graphs: Graphs, seen: Seen
) -> Finding:
    same = (finding.name, finding.target, finding.precision)
    socs = {other.soc for other in findings if (other.name, other.target, other.precision) == same}
    by_graph: dict[frozenset[str], bool] = {}
    for cell, failed in cells.items():
        file = (cell.app, cell.model, file_of(cell.arm))
        if file in graphs and any(
            cohort_of(cell, precision=bool(finding.precision)) == (soc, *same[1:]) for soc in socs
        ):
            by_graph[graphs[file]] = by_graph.get(graphs[file], False) or failed
    if finding.name in WRONG:
        finding, operation = _measured(finding, by_graph, seen)
        if operation is not None:
            return replace(finding, operation=operation)
    operation = suspect(by_graph)
    return finding if operation is None else replace(finding, operation=operation)


def _measured(finding: Finding, by_graph: Mapping[frozenset[str], bool], seen: Seen) -> tuple[Finding, str | None]:
    """The finding with what most probes of the SoC found its driver to compute wrongly, and the operation that this leaves to
    blame: the only one, of those that graphs which fail hold, where graphs are known.
    """
    compared = [
        d.miscomputes[finding.target]
        for d in seen.devices.values()
        if d.soc == finding.soc and finding.target in d.miscomputes
    ]
    votes = Counter(name for operations in compared for name in operations)
    wrong = frozenset(name for name, count in votes.items() if 2 * count >= len(compared))
    if not wrong:
        return finding, None
    row: dict[str, Any] = {"probed_classes": len(compared), "probed_wrong": ", ".join(sorted(wrong))}
    failing = frozenset[str]().union(*(graph for graph, failed in by_graph.items() if failed))
    left = wrong & failing if by_graph else wrong
    told = replace(finding, evidence=(*finding.evidence, row))
    return told, next(iter(left)) if len(left) == 1 else None


def suspect(graphs: Mapping[frozenset[str], bool]) -> str | None:
    """The operation that tells graphs that failed from those that did not; None where none does, or more than one."""
    failed = [operations for operations, bad in graphs.items() if bad]
    sound = [operations for operations, bad in graphs.items() if not bad]
    if not failed or not sound:
        return None
    named = sorted(frozenset[str]().union(*failed) - frozenset.intersection(*failed, *sound))
    p_values = {name: _p_value(name, failed, sound) for name in named}
    best = min(p_values.values(), default=1.0)
    found = [name for name, p_value in p_values.items() if p_value == best]
    return found[0] if len(found) == 1 and best * len(named) <= ALPHA else None


def file_of(arm: str) -> str:
    """Precision and format of an arm: which file of its model it runs."""
    precision, fmt, *_ = [*arm.split(".", 2), "", ""]
    return f"{precision}.{fmt}"


def _p_value(name: str, failed: Sequence[frozenset[str]], sound: Sequence[frozenset[str]]) -> float:
    bad = sum(name in operations for operations in failed)
    good = sum(name in operations for operations in sound)
    return float(hypergeom.sf(bad - 1, len(failed) + len(sound), bad + good, len(failed)))
