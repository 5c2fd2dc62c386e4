"""Graphs built from published architectures, for models of which no package carries a file.

EfficientNet-Lite0 (Tan & Le 2019 and the Lite variant of the TensorFlow TPU repository: no squeeze-and-excite, RELU6
fused into the convolutions, stem and head of fixed width) and MobileNetV2 (Sandler et al. 2018). The converter's own
habits are kept: the activation is part of the convolution, PAD is folded into SAME padding. The probe's graph is ours.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from policies.graph import ModelGraph, Node

EFFICIENTNET_LITE0_STAGES = (
    # (expansion, output channels, repeats, stride, kernel)
    (1, 16, 1, 1, 3),
    (6, 24, 2, 2, 3),
    (6, 40, 2, 2, 5),
    (6, 80, 3, 2, 3),
    (6, 112, 3, 1, 5),
    (6, 192, 4, 2, 5),
    (6, 320, 1, 1, 3),
)
MOBILENET_V2_STAGES = (
    (1, 16, 1, 1, 3),
    (6, 24, 2, 2, 3),
    (6, 32, 3, 2, 3),
    (6, 64, 4, 2, 3),
    (6, 96, 3, 1, 3),
    (6, 160, 3, 2, 3),
    (6, 320, 1, 1, 3),
)
FLOAT_BYTES = 4


@dataclass
class _Builder:
    """Appends operations; tensors are numbered as they appear."""

    size: int = 224
    channels: int = 3
    tensors: int = 1
    current: int = 0
    nodes: list[Node] = field(default_factory=list)
    constants: list[int] = field(default_factory=list)
    weight_bytes: int = 0

    def constant(self, elements: int) -> int:
        self.weight_bytes += elements * FLOAT_BYTES
        number = self._next()
        self.constants.append(number)
        return number

    def add(self, op: str, macs: int, *inputs: int) -> None:
        output = self._next()
        self.nodes.append(Node(op, "float32", (self.current, *inputs), (output,), macs))
        self.current = output

    def conv(self, kernel: int, channels: int, stride: int = 1) -> None:
        self.size = -(-self.size // stride)
        weights = kernel * kernel * self.channels * channels
        self.add("CONV_2D", self.size**2 * weights, self.constant(weights), self.constant(channels))
        self.channels = channels

    def depthwise(self, kernel: int, stride: int) -> None:
        self.size = -(-self.size // stride)
        weights = kernel * kernel * self.channels
        macs = self.size**2 * weights
        self.add("DEPTHWISE_CONV_2D", macs, self.constant(weights), self.constant(self.channels))

    def inverted_residual(self, expansion: int, channels: int, stride: int, kernel: int) -> None:
        start, start_channels = self.current, self.channels
        if expansion > 1:
            self.conv(1, self.channels * expansion)
        self.depthwise(kernel, stride)
        self.conv(1, channels)
        if stride == 1 and start_channels == channels:
            self.add("ADD", self.size**2 * channels, start)

    def classifier(self, classes: int) -> None:
        self.add("AVERAGE_POOL_2D", self.channels)
        self.add("RESHAPE", 0, self.constant(2))
        weights = self.channels * classes
        self.add("FULLY_CONNECTED", weights, self.constant(weights), self.constant(classes))
        self.add("SOFTMAX", classes)

    def graph(self) -> ModelGraph:
        return ModelGraph(tuple(self.nodes), (0,), (self.current,), frozenset(self.constants), self.weight_bytes)

    def _next(self) -> int:
        number = self.tensors
        self.tensors += 1
        return number


def _inverted_residuals(stages: tuple[tuple[int, int, int, int, int], ...], head: int, classes: int) -> ModelGraph:
    builder = _Builder()
    builder.conv(3, 32, stride=2)
    for expansion, channels, repeats, stride, kernel in stages:
        for repeat in range(repeats):
            builder.inverted_residual(expansion, channels, stride if repeat == 0 else 1, kernel)
    builder.conv(1, head)
    builder.classifier(classes)
    return builder.graph()


def efficientnet_lite0() -> ModelGraph:
    """62 operations in float32 (64 with the QUANTIZE and DEQUANTIZE of the int8 form, as a public log counts them)."""
    return _inverted_residuals(EFFICIENTNET_LITE0_STAGES, head=1280, classes=1000)


def mobilenet_v2() -> ModelGraph:
    """MobileNetV2 1.0, 224 × 224: 300 million multiply-accumulates, as its paper states."""
    return _inverted_residuals(MOBILENET_V2_STAGES, head=1280, classes=1001)


def probe_graph() -> ModelGraph:
    """The small graph that a probe compiles and runs on every driver: two convolutions and a classifier's end."""
    builder = _Builder()
    builder.conv(3, 32, stride=2)
    builder.depthwise(3, 1)
    builder.classifier(10)
    return builder.graph()
