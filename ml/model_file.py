"""A fitted latency model as a file, and back: plain arrays, and what it predicts is the same to the last bits.

Kept are names with their features, inducing cells and measurements; factors are computed anew when it is read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ml.array_file import Kind, packed, unpacked
from ml.coverage_prior import COVERAGE, LOG_COST
from ml.features import CATEGORY_WEIGHT, CHIP_LENGTHS, MODEL_LENGTHS, Encoder
from ml.kernels import TERMS, Cells, Space
from ml.latency import LatencyModel
from ml.measured import Measured

NAMES: Final = ("chipsets", "models", "arms")
FEATURES: Final = ("chip_coordinates", "model_coordinates", "families", "tasks", "precisions", "paths")


def feature_digest() -> str:
    """Digest of what a model's numbers depend on beside its data: kernel terms, scales of features, costs of coverage."""
    scales = [dict(CHIP_LENGTHS), CATEGORY_WEIGHT, dict(MODEL_LENGTHS), COVERAGE, LOG_COST]
    text = json.dumps([[term.label for term in TERMS], *scales], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


KIND: Final = Kind("nnfleet-latency-model", 1, feature_digest())


def model_bytes(model: LatencyModel) -> bytes:
    """The file of a fitted model. Raises sklearn's NotFittedError before it is fitted."""
    check_is_fitted(model, "weights_")
    space, measured = model.space_, model.measured_
    encoder = {**asdict(space.encoder), "kernels": sorted(space.encoder.kernels)}
    arrays: dict[str, NDArray[Any]] = {
        **{name: np.asarray(getattr(space, name), dtype=np.str_) for name in NAMES},
        **{name: getattr(space, name) for name in FEATURES},
        "inducing": np.stack(model.population_.cells),
        "measured": np.stack(measured.cells),
        "log_ms": measured.log_ms,
        "noise": measured.noise,
    }
    parameters = model.get_params(deep=False)
    parameters["variances"] = None if model.variances is None else dict(model.variances)
    facts = {"parameters": parameters, "level": model.level_, "encoder": encoder}
    return packed(KIND, facts, arrays)


def model_of(content: bytes) -> LatencyModel:
    """The model a file holds. Raises ModelFileError on one that is damaged, changed or of another version."""
    facts, arrays = unpacked(content, KIND)
    space = _space(facts["encoder"], arrays)
    measured = Measured(Cells(*arrays["measured"]), arrays["log_ms"], arrays["noise"])
    return LatencyModel(**facts["parameters"]).restore(space, facts["level"], Cells(*arrays["inducing"]), measured)


def _space(encoder: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Space:
    categories = {name: tuple(values) for name, values in encoder["categories"].items()}
    known = {**encoder, "categories": categories, "formats": tuple(encoder["formats"])}
    known["kernels"] = frozenset(encoder["kernels"])
    chipsets, models, arms = (tuple(str(name) for name in arrays[key].tolist()) for key in NAMES)
    chips, sizes, families, tasks, precisions, paths = (arrays[key] for key in FEATURES)
    return Space(Encoder(**known), chipsets, models, arms, chips, sizes, families, tasks, precisions, paths)
