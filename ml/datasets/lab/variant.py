"""Which file of a model a lab measurement ran."""

from __future__ import annotations

from ml.datasets.lab.measurement import LabFileError, LabMeasurement
from policies.model import ModelSpec, Variant

BYTES_A_MB = 1e6


def variant_of(file: str, measurement: LabMeasurement, model: ModelSpec, named: str | None) -> Variant:
    """The variant that is named, else the only one that fits what the file says: precision and format, or the file's size.

    Raises LabFileError where none fits, or several do.
    """
    fitting = [variant for variant in model.variants if _fits(variant, measurement, named)]
    if len(fitting) == 1:
        return fitting[0]
    known = ", ".join(variant.id for variant in model.variants)
    what = f"no variant is called {named!r}" if named else f"which file ran, of {len(fitting)} that fit? say --variant"
    raise LabFileError(file, f"{measurement.place}: {what}; the model has {known}")


def _fits(variant: Variant, measurement: LabMeasurement, named: str | None) -> bool:
    if named is not None:
        return variant.id == named
    if measurement.precision is not None:
        return (variant.precision, variant.format) == (measurement.precision, measurement.format)
    # The tool prints six digits: two files that differ in the seventh both fit, and neither is chosen.
    return measurement.file_mb is not None and f"{variant.size_bytes / BYTES_A_MB:g}" == measurement.file_mb
