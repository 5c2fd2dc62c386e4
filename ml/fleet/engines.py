"""Processors by driver family, scaled to a SoC. Throughputs are effective: fitted to published latencies.

Fitted to EfficientNet-Lite0 (m96-chan/DroidRunner): google-edgetpu 0.65 ms on Tensor G4; mtk-neuron 2.12 and 7.29 ms,
mtk-mdla 2.69 ms on MT6899; QNN-HTP 1.22 and 2.78 ms, CPU 4.46 and GPU 4.95 ms on SM8650. All other fixed costs and
ratios are assumed, within what the issue named beside them reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from ml.fleet.assumptions import GPU_INT8_FACTOR
from ml.fleet.silicon import Engine, StartUp


@dataclass(frozen=True)
class Family:
    """A driver's engine for an NPU of 1 GMAC/s in INT8. `float_ratio` and `int8_ratio` scale that figure."""

    float_ratio: float
    int8_ratio: float
    node_us: float
    dispatch_us: float
    cut_us: float
    start: StartUp
    depthwise: float = 0.25

    def engine(self, npu_gmacs: float) -> Engine:
        """The engine of a SoC whose NPU reaches `npu_gmacs` in INT8."""
        return Engine(
            self.float_ratio * npu_gmacs,
            self.int8_ratio * npu_gmacs,
            self.depthwise,
            self.node_us,
            self.dispatch_us,
            self.cut_us,
            self.start,
        )


_MTK_START: Final = StartUp(60, 1.2, 0.3)
_QTI_START: Final = StartUp(90, 4.0, 0.5)  # init 115 and 371 ms (tensorflow/tensorflow#43541, #43547)
_QTI_CUT_US: Final = 3900.0  # 7 pieces cost 27.4 ms against 2.16 on SM8250 (jttarigan/npu-stencil-offload)

FAMILIES: Final[Mapping[str, Family]] = MappingProxyType(
    {
        "qnn-htp": Family(0.36, 1.0, 2.5, 180, 300, StartUp(250, 3.0, 0.2)),
        "google-edgetpu": Family(0.0, 1.0, 1.2, 150, 350, StartUp(30, 0.24, 0.25)),  # probe: compile 45 ms
        "mtk-neuron": Family(0.2204, 1.0, 4.0, 400, 600, _MTK_START),
        "mtk-mdla": Family(0.0, 1.0, 4.0, 970, 700, _MTK_START),
        "mtk-dsp": Family(0.02, 0.05, 8.0, 500, 700, _MTK_START),
        "mtk-neuron-old": Family(0.2, 1.0, 8.0, 1100, 1500, StartUp(120, 3.0, 0.4)),
        # YOLOv8n INT8: 618 ms, XNNPACK 273, mtk-gpu 155, on a Dimensity with a PowerVR BXM-8-256 (public benchmark log).
        "mtk-neuron-slow": Family(0.5, 1.0, 30.0, 2500, 2000, StartUp(150, 4.0, 0.4)),
        "qti-default": Family(0.25, 1.0, 8.0, 600, _QTI_CUT_US, _QTI_START),
        "qti-dsp": Family(0.0, 1.0, 6.0, 450, _QTI_CUT_US, _QTI_START),
        "qti-hta": Family(0.0, 0.6, 10.0, 700, _QTI_CUT_US, _QTI_START),
        # Pixel 3a: 2.62 s cold, 2.49 s cached (tensorflow/tensorflow#58990); 171 ms against 66.8 (pytorch#48411).
        "qti-default-old": Family(0.22, 1.0, 12.0, 1500, _QTI_CUT_US, StartUp(2330, 0.0, 0.944)),
        # Galaxy A51 5G: small dense networks 79–421 × slower than the CPU: a large fixed cost.
        "eden-drv": Family(0.3, 1.0, 6.0, 1800, 1500, StartUp(150, 3.0, 0.4)),
        "enn": Family(0.4, 1.0, 4.0, 700, 900, StartUp(120, 2.0, 0.3)),
        "ipuadaptor": Family(1.0, 0.0, 10.0, 1500, 2500, StartUp(120, 2.0, 0.6)),  # init 126 ms (tensorflow#56301)
        # An NPU made for FP16: INT8 is emulated and slower (assumed).
        "liteadaptor": Family(1.0, 0.55, 6.0, 900, 1500, StartUp(150, 3.0, 0.5)),
        "unisoc-npu": Family(0.15, 1.0, 8.0, 900, 1200, StartUp(120, 3.0, 0.4)),
    }
)

REFERENCE_FLOAT_RATIO: Final = 0.22
REFERENCE_INT8_RATIO: Final = 0.43
"""nnapi-reference: float against the CPU's float, INT8 against its own float. Fitted to SM8650, Tensor G4, MT6899."""

CPU_DEPTHWISE: Final = 0.4
GPU_DEPTHWISE: Final = 0.5
"""Share of throughput in depthwise convolutions. Assumed."""

GPU_DRIVER_RATIO: Final = 0.8
"""An NNAPI driver over the GPU (qti-gpu, mtk-gpu, google-armnn) against TFLite's own GPU delegate. Assumed."""

_GPU_START: Final = StartUp(300, 5.5, 0.4)  # 870 ms (tensorflow/tensorflow#43541)
_SMALL_ADRENO_START: Final = StartUp(1900, 9.0, 0.5)  # 2.4–2.5 s (tensorflow/tensorflow#46132, #44612)
_SMALL_ADRENOS: Final = ("Adreno (TM) 5", "Adreno (TM) 61")
_INT8_GPUS: Final = (
    "Adreno (TM) 7",
    "PowerVR B-Series",
    "Mali-G7",
    "Mali-G61",
    "Mali-G68",
    "Immortalis",
    "Samsung Xclipse",
)
"""Renderers with INT8 dot products. Source: vendors' OpenCL extension lists (cl_*_dot_product), by memory: assumed."""


def cpu_engine(gmacs: float, int8_ratio: float) -> Engine:
    """XNNPACK on the big cores. Fixed costs assumed; loading costs little."""
    return Engine(gmacs, gmacs * int8_ratio, CPU_DEPTHWISE, 2.0, 0.0, 0.0, StartUp(4, 0.08, 1.0))


def gpu_engine(gmacs: float, renderer: str) -> Engine:
    """TFLite's GPU delegate in FP16; INT8 is 40 % slower where the GPU has no units for it."""
    int8 = gmacs if renderer.startswith(_INT8_GPUS) else gmacs / GPU_INT8_FACTOR
    start = _SMALL_ADRENO_START if renderer.startswith(_SMALL_ADRENOS) else _GPU_START
    return Engine(gmacs, int8, GPU_DEPTHWISE, 20.0, 900.0, 1200.0, start)


def reference_engine(cpu_gmacs: float) -> Engine:
    """nnapi-reference: one thread, no vector kernels."""
    gmacs = cpu_gmacs * REFERENCE_FLOAT_RATIO
    return Engine(gmacs, gmacs * REFERENCE_INT8_RATIO, 1.0, 2.0, 200.0, 0.0, StartUp(10, 0.2, 1.0))
