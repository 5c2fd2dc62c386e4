"""A latency model that follows reports as they come: fitted anew when their number has doubled, updated in between."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ml.latency import LatencyModel, Panel
from ml.posterior import Joint, Posterior
from ml.refit import ADAPT_FROM, adapted
from ml.reports import Reports, report_variance
from ml.table import Numbers, Table

INDUCING = 400


class Pupil:
    """Posterior of fixed cells from all reports so far."""

    def __init__(self, cells: Table, seed: int) -> None:
        self.cells, self.seed = cells, seed
        self.model: LatencyModel | None = None
        self.panel: Panel | None = None
        self.by_model: Panel | None = None
        self.fitted_to = 0
        self.found: Posterior | None = None
        self.variance: Numbers = np.zeros(0)

    def follow(self, reports: Reports) -> Posterior:
        """The posterior given these reports, which hold all that were followed before, in the same order."""
        self.variance = report_variance(reports, self.variance, self.found)
        heard = replace(self.cells.take(reports.row), latency_ms=np.exp(reports.log_ms))
        if self.model is None or self.panel is None or len(reports) >= 2 * max(self.fitted_to, ADAPT_FROM):
            self.model = LatencyModel(adapted(heard, self.seed), n_inducing=INDUCING, random_state=self.seed)
            self.model.fit(heard, noise_var=self.variance, universe=self.cells)
            self.panel, self.by_model, self.fitted_to = self.model.panel(self.cells), None, len(reports)
        else:
            self.model = self.model.recondition(heard, noise_var=self.variance)
        self.found = replace(self.model.posterior(self.panel), across=self.joints)
        return self.found

    def joints(self) -> Iterator[Joint]:
        """Covariances of each model's cells, given all that was followed."""
        if self.model is None:
            return
        if self.by_model is None:
            self.by_model = self.model.panel(self.cells, np.unique(self.cells.model, return_inverse=True)[1])
        for group in self.model.posterior(self.by_model).groups:
            yield from (Joint(*joint) for joint in zip(*group, strict=True))
