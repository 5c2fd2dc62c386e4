"""The gate of a recommendation: the live release's weights and what was measured under them, against the new weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from sqlalchemy import Engine
from sqlmodel import Session

from ml.candidates import app_and_model, model_label
from ml.explore import FULL_BP, Splits
from ml.gate_evidence import Gate
from ml.gates import judge
from ml.offpolicy import MIN_PROPENSITY, Logged
from ml.rollup import CellSummary
from policies.knowledge import Ranking
from policies.vocabulary import Workload
from service.releasing.releases import load
from service.store import uses

Unit = tuple[str, str]


def gate(engine: Engine, splits: Splits, stack_of: Mapping[str, str], cells: Iterable[CellSummary]) -> Gate:
    """Judge new weights. Without a live release or without learned rankings in it there is nothing to compare.

    `stack_of`: driver stack by device class; `cells`: what was measured, by driver stack.
    """
    release = load(engine)
    if release is None:
        return judge(splits, {})
    live = dict(_live(release.rankings, splits))
    with Session(engine) as session:
        seen = uses.of_release(session, release.number)
    weights = {unit: {share.arm: share.weight_bp for share in ranking.shares} for unit, ranking in live.items()}
    return judge(splits, weights, _logged(seen, splits, stack_of, live), _uses(cells))


def _uses(cells: Iterable[CellSummary]) -> dict[Unit, int]:
    """Windows of each unit: its share of the traffic."""
    found = Counter[Unit]()
    for summary in cells:
        found[summary.cell.group, model_label(summary.cell.app, summary.cell.model)] += summary.measured
    return dict(found)


def _live(
    rankings: Mapping[str, Mapping[str, Mapping[str, Mapping[str, object]]]], splits: Splits
) -> Iterator[tuple[Unit, Ranking]]:
    cells = splits.rankings.cells
    for stack, label in set(zip(cells.chipset.tolist(), cells.model.tolist(), strict=True)):
        app, model = app_and_model(label)
        raw = rankings.get(stack, {}).get(app, {}).get(model, {}).get(Workload.BURST.value)
        if isinstance(raw, Mapping):
            yield (stack, label), Ranking.from_json(raw)


def _logged(
    seen: Iterable[uses.Use], splits: Splits, stack_of: Mapping[str, str], live: Mapping[Unit, Ranking]
) -> Logged | None:
    """Uses with the new weight of their arm. The model is that of the live release: it has not learned from them."""
    target, model, expected = _by_unit(splits, live)
    rows = []
    for use in seen:
        unit = stack_of.get(use.device_class, ""), model_label(use.app, use.model)
        if use.arm in model.get(unit, {}):
            log_ms = float(np.log(use.latency_ms))
            rows.append(
                (
                    log_ms,
                    max(use.propensity, MIN_PROPENSITY),
                    target[unit].get(use.arm, 0.0),
                    model[unit][use.arm],
                    expected[unit],
                )
            )
    return Logged(*np.array(rows, dtype=np.float64).T) if rows else None


def _by_unit(
    splits: Splits, live: Mapping[Unit, Ranking]
) -> tuple[dict[Unit, dict[str, float]], dict[Unit, dict[str, float]], dict[Unit, float]]:
    """By unit: the new weight of each arm, the live model's log latency of each arm, and its mean under the weights."""
    cells, mean = splits.rankings.cells, splits.rankings.mean
    target: dict[Unit, dict[str, float]] = {}
    model: dict[Unit, dict[str, float]] = {}
    known = {
        unit: {arm.arm: float(np.log(arm.expected_ms)) for arm in ranking.ranked} for unit, ranking in live.items()
    }
    for row, weight_bp in enumerate(splits.weight_bp.tolist()):
        unit, arm = (str(cells.chipset[row]), str(cells.model[row])), str(cells.arm[row])
        if unit in known:
            target.setdefault(unit, {})[arm] = weight_bp / FULL_BP
            model.setdefault(unit, {})[arm] = known[unit].get(arm, float(mean[row]))
    expected = {unit: sum(w * model[unit][arm] for arm, w in weights.items()) for unit, weights in target.items()}
    return target, model, expected
