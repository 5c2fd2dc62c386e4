"""Observations in the database → stored rollups by day → what the learner reads."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import groupby
from typing import Any, Final

from sqlalchemy import Engine
from sqlmodel import Session

from ml.rollup import Cell, Rollup
from policies.screen import GAMMA
from service.jobs.run import Steps
from service.store import arm_tallies, class_facts, tallies
from service.store import rollups as stored

_LOG_GAMMA: Final = math.log(GAMMA)
_LOG_VALUE: Final = math.log(2 / (GAMMA + 1))
_HOT: Final = {"hot": True, "cool": False, "unknown": None}


def roll_up(engine: Engine, now: datetime, crashed_before: datetime) -> Steps:
    """Roll up every day that is due, each in a transaction of its own. `crashed_before`: see `rollups.roll`."""
    observations = 0
    with Session(engine) as session:
        days = stored.days_due(session, now)
    for number, day in enumerate(days, start=1):
        with Session(engine) as session, session.begin():
            rolled = stored.roll(session, day, crashed_before, now)
        observations += rolled
        yield number / (len(days) + 1), f"{day}: {rolled:,} observations"
    with Session(engine) as session, session.begin():
        cohorts = stored.refresh_cohorts(session)
        arm_tallies.refresh(session)
        rows = tallies.fold(session) + class_facts.fold(session)
    yield 1.0, f"{cohorts:,} cells for the screen, {rows:,} tallies"
    return {"days": len(days), "observations": observations, "cells": cohorts}


def rollups(session: Session) -> list[Rollup]:
    """All that is rolled up, over all days, by device class, app, model, arm, workload and temperature."""
    log_p50_us = {key: _log_median(counts) for key, counts in _histograms(session)}
    return [_rollup(columns, log_p50_us) for columns in stored.counts(session)]


def _rollup(columns: dict[str, Any], log_p50_us: Mapping[tuple[Any, ...], float]) -> Rollup:
    cell = Cell(*(columns.pop(name) for name in ("device_class", "app", "model", "arm")))
    workload, heat = columns.pop("workload"), columns.pop("heat")
    return Rollup(cell, workload, _HOT[heat], log_p50_us=log_p50_us.get((*cell, workload, heat), 0.0), **columns)


def _histograms(session: Session) -> Iterator[tuple[tuple[Any, ...], list[tuple[int, int]]]]:
    for key, rows in groupby(stored.medians(session), key=lambda row: row[0]):
        yield key, [(bucket, windows) for _, bucket, windows in rows]


def _log_median(counts: list[tuple[int, int]]) -> float:
    """The median of the logarithms of what the buckets stand for; of an even number, the mean of the middle two."""
    total = sum(windows for _, windows in counts)
    low, high = (_bucket_at(counts, rank) for rank in ((total - 1) // 2, total // 2))
    return _LOG_VALUE + _LOG_GAMMA * (low + high) / 2


def _bucket_at(counts: list[tuple[int, int]], rank: int) -> int:
    for bucket, windows in counts:
        if rank < windows:
            return bucket
        rank -= windows
    raise ValueError("a rank beyond the last window")
