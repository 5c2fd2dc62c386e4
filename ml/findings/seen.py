"""What detectors look at: the fleet's rollups, with each grouping that they ask for made once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from ml.findings.device import Device
from ml.findings.finding import Cohort, cohorts_of
from ml.findings.pairs import FileKey, cpu_cells, measured
from ml.rollup import Cell, CellSummary, Rollup, regrouped


class Seen:
    """`rows`: rollups by device class, of classes that are known. `devices`: what is known of them."""

    def __init__(self, rollups: Iterable[Rollup], devices: Mapping[str, Device]) -> None:
        self.devices = devices
        self.rows = [rollup for rollup in rollups if rollup.cell.group in devices]
        self.soc_of = {name: device.soc for name, device in devices.items()}

    @cached_property
    def of_socs(self) -> list[Rollup]:
        """The same rollups with the SoC for their group."""
        return regrouped(self.rows, self.soc_of)

    @cached_property
    def cells(self) -> dict[Cell, CellSummary]:
        """Measured cells, device classes of one SoC pooled."""
        return measured(self.of_socs)

    @cached_property
    def cpu(self) -> dict[FileKey, CellSummary]:
        """Those of the CPU, by file."""
        return cpu_cells(self.cells)

    @cached_property
    def drivers(self) -> dict[Cohort, list[Rollup]]:
        """Rollups by SoC and what executes, over all precisions; the CPU is nobody's suspect."""
        return cohorts_of(self.of_socs, precision=False)

    @cached_property
    def drivers_by_precision(self) -> dict[Cohort, list[Rollup]]:
        """The same, precisions apart."""
        return cohorts_of(self.of_socs, precision=True)

    @cached_property
    def delegating(self) -> dict[Cohort, list[CellSummary]]:
        """Measured cells of each driver of a SoC, sorted."""
        return {
            cohort: [self.cells[cell] for cell in sorted({row.cell for row in rows if row.measured})]
            for cohort, rows in self.drivers.items()
        }
