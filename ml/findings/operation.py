"""Which operation is behind a driver's failures: the one that the graphs which fail have and those which work have not.

A driver that computes CONCATENATION wrongly is wrong on every model with one. Null: the graphs of a cohort that fail hold
an operation no more often than those that do not (Fisher's exact test), Bonferroni over the operations that were there
to suspect. No phone has to check single operations: the models that a fleet runs are the experiment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import exp
from typing import Final

from scipy.stats import hypergeom

from ml.findings.accuracy import NULL_LOG_RATIO
from ml.findings.finding import Finding, cohort_of
from ml.findings.quarantine import FAILS, failing_cells
from ml.rollup import Cell, Rollup
from policies.arm import ModelSpec

Graphs = Mapping[tuple[str, str, str], frozenset[str]]
"""(app, model, precision.format) → operations of the file's graph."""

ALPHA: Final = 0.05
OUTLIER: Final = "accuracy-outlier"


def operations_of(models: Iterable[ModelSpec]) -> dict[tuple[str, str, str], frozenset[str]]:
    """Operations of every file whose graph is known."""
    return {
        (model.app, model.name, f"{variant.precision}.{variant.format}"): frozenset(node.op for node in graph.nodes)
        for model in models
        for variant in model.variants
        if (graph := variant.model_graph) is not None
    }


def with_operations(findings: Sequence[Finding], of_socs: Sequence[Rollup], graphs: Graphs) -> list[Finding]:
    """The findings; those of failures and of errors with the operation behind them, where there is one.

    SoCs on which the same driver has the same finding are pooled: each of them runs few models. `of_socs`: rollups whose group is their SoC.
    """
    failing = {name: failing_cells(of_socs, FAILS[name]) for name in {f.name for f in findings} & FAILS.keys()}
    failing[OUTLIER] = {
        Cell(f.soc, row["app"], row["model"], row["arm"]): row["factor"] > exp(NULL_LOG_RATIO)
        for f in findings
        if f.name == OUTLIER
        for row in f.evidence
    }
    return [_blamed(finding, findings, failing.get(finding.name, {}), graphs) for finding in findings]


def _blamed(finding: Finding, findings: Sequence[Finding], cells: Mapping[Cell, bool], graphs: Graphs) -> Finding:
    same = (finding.name, finding.target, finding.precision)
    socs = {other.soc for other in findings if (other.name, other.target, other.precision) == same}
    by_graph: dict[frozenset[str], bool] = {}
    for cell, failed in cells.items():
        file = (cell.app, cell.model, file_of(cell.arm))
        if file in graphs and any(cohort_of(cell) == (soc, *same[1:]) for soc in socs):
            by_graph[graphs[file]] = by_graph.get(graphs[file], False) or failed
    operation = suspect(by_graph)
    return finding if operation is None else replace(finding, operation=operation)


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
