"""Judge the learner on measured data: `run(table, protocol, seeds)` → rows of regret, baselines beside it.

Protocols: `unseen-chipset`, `unseen-model`, `sparse` (`ml.protocols`) and `adaptive` (`ml.adaptive`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from ml.adaptive import run_adaptive
from ml.baselines import BASELINES, PREDICTS_LATENCY
from ml.caution import caution
from ml.intervals import Intervals, calibrate
from ml.latency import LatencyModel
from ml.metrics import Row, choose
from ml.protocols import SPLITS, Answer, Question, Trial
from ml.refit import adapted
from ml.table import Numbers, Table, concatenate, decision_subset
from ml.tally import Tally

METHOD: Final = "nnfleet"
LEVELS: Final = (0.8, 0.95)
PROTOCOLS: Final = (*SPLITS, "adaptive")
ADAPT_BELOW: Final = 5_000
"""Rows of a base below which its variances adapt to it. On a dense table the frozen ones did as well on release 0.60.0
(unseen models), at a fifth of the time."""

Progress = Callable[[str], None]


class UnknownProtocolError(ValueError):
    """No protocol has this name; the message lists those there are."""


@dataclass
class Learner:
    """The estimator under test. A base is fitted once, however many questions share it, and calibrated for seed 0."""

    model: LatencyModel = field(default_factory=LatencyModel)
    intervals: list[Intervals] = field(default_factory=list)
    fitted: tuple[str, int] | None = None

    def predict(self, question: Question) -> tuple[Numbers, Numbers, Numbers]:
        """Decision score, mean and sd of log latency of the question's cells."""
        key = question.base_key, question.seed
        if self.fitted != key:
            sparse = len(question.base) < ADAPT_BELOW
            variances = adapted(question.base, question.seed) if sparse else None
            fresh = LatencyModel(variances, random_state=question.seed)
            self.intervals = []
            if question.seed == 0 and len(np.unique(question.groups)) > 1:
                self.intervals = calibrate(fresh, question.base, question.groups, question.rehearsals)
            self.model, self.fitted = fresh.fit(question.base, universe=question.cells), key
        model = self.model.add(question.extra) if len(question.extra) else self.model
        mean, sd = model.predict(question.cells, return_std=True)
        known = concatenate(question.base, question.extra)
        return mean + caution(known, question.cells, sd), mean, sd

    def half_widths(self, question: Question, sd: Numbers) -> tuple[Numbers, Numbers] | None:
        """Half widths of the 80 % and 95 % intervals, None where the base was not calibrated."""
        if not self.intervals:
            return None
        intervals = self.intervals[question.stage]
        narrow, wide = (intervals.half_width(question.cells, sd, level) for level in LEVELS)
        return narrow, wide


def run(table: Table, protocol: str, seeds: int = 3, progress: Progress | None = None) -> list[Row]:
    """Rows of every method under every setting of a protocol, over seeds 0…seeds−1.

    `table` is cut to units with a choice (`decision_subset`). `progress` is told each step in words. Raises
    UnknownProtocolError, and ValueError where the table leaves nothing to judge.
    """
    if protocol not in PROTOCOLS:
        raise UnknownProtocolError(f"no protocol {protocol!r}; there are {', '.join(PROTOCOLS)}")
    table = decision_subset(table)
    if not len(table):
        raise ValueError("no (chipset, model) has two measured arms: nothing to choose")
    say = progress or (lambda _: None)
    if protocol == "adaptive":
        return run_adaptive(table, seeds, say)
    tally, learner = Tally(protocol, seeds), Learner()
    for seed in range(seeds):
        for trial in SPLITS[protocol](table, seed):
            say(f"{protocol}, seed {seed}: {trial.question.base_key}, {trial.setting}")
            _judge(trial, learner, tally)
    return tally.rows()


def document(rows: Iterable[Row]) -> dict[str, Any]:
    """The rows as the JSON document `{"rows": […]}`."""
    return {"rows": [row.to_json() for row in rows]}


def _judge(trial: Trial, learner: Learner, tally: Tally) -> None:
    question, answer = trial.question, trial.answer
    unit = question.cells.units()
    score, mean, sd = learner.predict(question)
    scored = {METHOD: _with_measured(score, question, answer)}
    for name, baseline in BASELINES.items():
        found = baseline(question)
        scored[name] = _with_measured(found, question, answer) if name in PREDICTS_LATENCY else found
    for name, found in scored.items():
        tally.add(trial.setting, name, choose(answer.log_ms, found, unit, answer.judged))
    unknown = answer.judged & ~question.observed
    half_widths = learner.half_widths(question, sd)
    if half_widths is not None and unknown.any():
        error = np.abs(answer.log_ms - mean)[unknown]
        narrow, wide = (width[unknown] for width in half_widths)
        tally.add_intervals(trial.setting, METHOD, error, (narrow, wide))


def _with_measured(score: Numbers, question: Question, answer: Answer) -> Numbers:
    """Scores with measured cells at their measured value: those the question itself shows."""
    return np.where(question.observed, answer.log_ms, score)
