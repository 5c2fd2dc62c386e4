"""Tables, one module a noun. They stay apart from wire classes: a table class validates nothing."""

from __future__ import annotations

from service.store.tables.columns import metadata
from service.store.tables.devices import ClassFactsRow, DeviceClassRow, FleetTallyRow, ReportRow
from service.store.tables.jobs import FindingRow, JobRunRow, RoundRow
from service.store.tables.lab import LabDeviceRow, LabMeasurementRow
from service.store.tables.management import ApiKeyRow, ArtifactRow, AuditRow, RevisionRow
from service.store.tables.people import PersonRow, PersonSessionRow, SignInAttemptRow
from service.store.tables.releases import RecommendationRow, ReleaseContentRow, ReleaseRow, RolloutRow
from service.store.tables.reviews import RevisionCommentRow, RevisionSimulationRow
from service.store.tables.rollups import ArmTallyRow, CohortMedianRow, RolledDayRow, RollupRow
from service.store.tables.simulations import SimulationRunRow
from service.store.tables.telemetry import ObservationRow, TallyRow

__all__ = [
    "ApiKeyRow",
    "ArmTallyRow",
    "ArtifactRow",
    "AuditRow",
    "ClassFactsRow",
    "CohortMedianRow",
    "DeviceClassRow",
    "FindingRow",
    "FleetTallyRow",
    "JobRunRow",
    "LabDeviceRow",
    "LabMeasurementRow",
    "ObservationRow",
    "PersonRow",
    "PersonSessionRow",
    "RecommendationRow",
    "ReleaseContentRow",
    "ReleaseRow",
    "ReportRow",
    "RevisionCommentRow",
    "RevisionRow",
    "RevisionSimulationRow",
    "RolledDayRow",
    "RolloutRow",
    "RollupRow",
    "RoundRow",
    "SignInAttemptRow",
    "SimulationRunRow",
    "TallyRow",
    "metadata",
]
