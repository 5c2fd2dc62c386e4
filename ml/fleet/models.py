"""Models of the fleet as ModelSpec JSON: real graphs in the app "camera", AI Hub's models in an app per task."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from ml.datasets.graphs import real_graphs
from ml.fleet.aihub import AiHubModel
from ml.fleet.architectures import efficientnet_lite0, mobilenet_v2
from ml.fleet.forms import FORMS, as_int8, is_quantised
from policies import catalog
from policies.graph import ModelGraph

CAMERA: Final = "camera"
_FLATBUFFER_BYTES: Final = 60
"""File bytes of an operation beside its weights. Assumed."""


@dataclass(frozen=True)
class CameraModel:
    """A model with a graph. `int8_drop` is the accuracy its INT8 form loses: assumed, within published INT8 losses."""

    name: str
    task: str
    family: str
    latency_target_ms: float
    int8_drop: float
    max_accuracy_drop: float
    source: Callable[[], ModelGraph]

    @property
    def forms(self) -> Mapping[str, ModelGraph]:
        """Precision → graph of the variant that ships."""
        return _forms(self.name)

    def accuracy_drop(self, precision: str) -> float:
        """Share of the accuracy that the variant of this precision loses."""
        return {"fp32": 0.0, "fp16": 0.0005}.get(precision, self.int8_drop)

    def operations(self, precision: str) -> frozenset[str]:
        """Kinds of operations in the variant."""
        return _operations(self.name, precision)


def _real(name: str) -> Callable[[], ModelGraph]:
    return lambda: real_graphs()[name]


CAMERA_MODELS: Final[Mapping[str, CameraModel]] = MappingProxyType(
    {
        model.name: model
        for model in (
            CameraModel(
                "efficientnet-lite0", "image-classification", "efficientnet", 50, 0.004, 0.02, efficientnet_lite0
            ),
            CameraModel("mobilenet-v2", "image-classification", "mobilenet", 50, 0.007, 0.02, mobilenet_v2),
            CameraModel(
                "face-detector-short", "object-detection", "blazeface", 30, 0.006, 0.02, _real("face_detection_front")
            ),
            CameraModel(
                "face-detector-back", "object-detection", "blazeface", 80, 0.006, 0.02, _real("face_detection_back")
            ),
            CameraModel("face-mesh", "landmark-detection", "facemesh", 33, 0.011, 0.02, _real("face_landmark")),
            CameraModel(
                "face-mesh-attention",
                "landmark-detection",
                "facemesh",
                33,
                0.013,
                0.02,
                _real("face_landmark_with_attention"),
            ),
            CameraModel("iris", "landmark-detection", "iris", 33, 0.009, 0.02, _real("iris_landmark")),
            CameraModel("palm-detector", "object-detection", "palm", 80, 0.008, 0.02, _real("palm_detection_full")),
            CameraModel("hand-landmarks", "landmark-detection", "hand", 33, 0.012, 0.02, _real("hand_landmark_full")),
            CameraModel("pose-detector", "object-detection", "pose", 80, 0.009, 0.02, _real("pose_detection")),
            # INT8 loses more than it may: the float forms have to serve (INT8 mAP 0.498 → 0.427, MegaDetector#34).
            CameraModel("pose-landmarks", "pose-estimation", "pose", 50, 0.034, 0.02, _real("pose_landmark_full")),
            CameraModel(
                "segmentation", "semantic-segmentation", "selfie", 33, 0.015, 0.02, _real("selfie_segmentation")
            ),
            CameraModel("wake-word", "keyword-spotting", "microwakeword", 10, 0.0, 0.02, _real("okay_nabu")),
        )
    }
)
"""Models of the app "camera", by name. Targets: classification 50, detection 80 ms (product requirements)."""


@cache
def _forms(name: str) -> Mapping[str, ModelGraph]:
    graph = CAMERA_MODELS[name].source()
    if is_quantised(graph):
        return MappingProxyType({"int8": as_int8(graph)})
    return MappingProxyType({precision: form(graph) for precision, form in FORMS.items()})


@cache
def _operations(name: str, precision: str) -> frozenset[str]:
    return frozenset(node.op for node in _forms(name)[precision].nodes)


@cache
def node_keys() -> frozenset[str]:
    """Keys of every node in every camera model."""
    graphs = (graph for model in CAMERA_MODELS.values() for graph in model.forms.values())
    return frozenset(node.key for graph in graphs for node in graph.nodes)


def camera_spec(model: CameraModel) -> dict[str, Any]:
    """ModelSpec JSON of a camera model, graphs included."""
    return {
        "app": CAMERA,
        "name": model.name,
        "task": model.task,
        "family": model.family,
        "latency_target_ms": model.latency_target_ms,
        "max_accuracy_drop": model.max_accuracy_drop,
        "params": _params(model),
        "variants": [
            _variant(model.name, precision, "tflite", size_bytes(graph), model.accuracy_drop(precision), (), graph)
            for precision, graph in model.forms.items()
        ],
    }


def _params(model: CameraModel) -> int:
    precision, graph = next(iter(model.forms.items()))
    return max(1, graph.weight_bytes // {"fp32": 4, "fp16": 2, "int8": 1}[precision])


def size_bytes(graph: ModelGraph) -> int:
    """Size of the file: weights and what each operation takes."""
    return graph.weight_bytes + _FLATBUFFER_BYTES * len(graph.nodes)


def aihub_specs(models: Iterable[AiHubModel]) -> list[dict[str, Any]]:
    """ModelSpec JSON of AI Hub models: apps by task, one variant per precision and format.

    Formats compiled ahead of time name the SoCs they were measured on: their variant stands for the set of binaries.
    """
    return [_aihub_spec(model) for model in models]


def _aihub_spec(model: AiHubModel) -> dict[str, Any]:
    variants = []
    for (precision, kind), found in sorted(model.variants.items()):
        targets = tuple(sorted({canonical_soc(chipset) for chipset in found.chipsets})) if found.compiled else ()
        size = int(model.params * found.bytes_per_parameter) + 1
        variants.append(_variant(model.name, precision, kind, size, found.accuracy_drop, targets, None))
    return {
        "app": model.app,
        "name": model.name,
        "task": model.task,
        "family": slug(model.family),
        "latency_target_ms": model.latency_target_ms,
        "max_accuracy_drop": model.max_accuracy_drop,
        "params": model.params,
        "variants": variants,
    }


def _variant(
    model: str,
    precision: str,
    kind: str,
    size: int,
    drop: float | None,
    targets: tuple[str, ...],
    graph: ModelGraph | None,
) -> dict[str, Any]:
    name = f"{model}-{precision}-{kind}"
    return {
        "id": name,
        "precision": precision,
        "format": kind,
        "sha256": hashlib.sha256(f"nnfleet simulated variant {name}".encode()).hexdigest(),
        "size_bytes": size,
        "targets": list(targets),
        "accuracy_drop": drop,
        "graph": graph.to_json() if graph else None,
    }


def canonical_soc(chipset: str) -> str:
    """Canonical SoC name of an AI Hub chipset. Raises KeyError where the catalogue does not know it."""
    found = catalog.socs().find(chipset)
    if found is None:
        raise KeyError(chipset)
    return found[0]


def slug(text: str) -> str:
    """Lower-case words joined by dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
