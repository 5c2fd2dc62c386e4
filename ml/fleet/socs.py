"""Modelled SoCs, in order of their share: `socs.csv`.

Columns: canonical name, what `Build.SOC_MANUFACTURER` and `Build.SOC_MODEL` say, driver set, effective INT8 throughput
of the NPU through NNAPI and of the Hexagon through QNN (GMAC/s), CPU float throughput (GMAC/s) and INT8 against it,
GPU renderer and FP16 throughput against the CPU's float, Android API levels it shipped and was updated to, cores,
memory, CPU features, phones as manufacturer|brand|model|product.

tensor-g4, mt6899, sm8650, mt6897, sm8250, sdm670, sdm660, msm8953 and mt6855 are fitted to published latencies (see
`engines`); all other throughputs are interpolated between them by year and tier: assumed. The GPU column follows Wu et
al., HPCA 2019: the median GPU equals its CPU, 11 % reach three times it. Products that a source does not name are
assumed.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ml.fleet.assumptions import MARKET_RANK_EXPONENT, MARKET_RANK_OFFSET
from ml.fleet.engines import cpu_engine, gpu_engine, reference_engine
from ml.fleet.silicon import Engine


@dataclass(frozen=True)
class Product:
    """A phone on the market."""

    manufacturer: str
    brand: str
    model: str
    product: str


@dataclass(frozen=True)
class Soc:
    """A modelled system on chip. `npu` names its set of NNAPI drivers, "" where it has none."""

    name: str
    manufacturer: str
    model: str
    npu: str
    npu_gmacs: float
    htp_gmacs: float
    cpu_gmacs: float
    int8_ratio: float
    renderer: str
    gpu_ratio: float
    api_min: int
    api_max: int
    cores: int
    ram_mb: int
    features: tuple[str, ...]
    products: tuple[Product, ...]

    @property
    def cpu(self) -> Engine:
        """XNNPACK on this SoC."""
        return cpu_engine(self.cpu_gmacs, self.int8_ratio)

    @property
    def gpu(self) -> Engine:
        """TFLite's GPU delegate on this SoC."""
        return gpu_engine(self.cpu_gmacs * self.gpu_ratio, self.renderer)

    @property
    def reference(self) -> Engine:
        """nnapi-reference on this SoC."""
        return reference_engine(self.cpu_gmacs)


@cache
def modelled_socs() -> tuple[Soc, ...]:
    """All of them, most common first."""
    text = (files("ml.fleet") / "socs.csv").read_text("utf-8")
    return tuple(_soc(row) for row in csv.DictReader(text.splitlines()))


def market_weight(rank: int) -> float:
    """Unnormalised share of the SoC of that rank (1 is the most common)."""
    return float((rank + MARKET_RANK_OFFSET) ** MARKET_RANK_EXPONENT)


def _soc(row: dict[str, str]) -> Soc:
    return Soc(
        name=row["soc"],
        manufacturer=row["soc_manufacturer"],
        model=row["soc_model"],
        npu=row["npu"],
        npu_gmacs=float(row["npu_gmacs"]),
        htp_gmacs=float(row["htp_gmacs"]),
        cpu_gmacs=float(row["cpu_gmacs"]),
        int8_ratio=float(row["int8_ratio"]),
        renderer=row["gpu"],
        gpu_ratio=float(row["gpu_ratio"]),
        api_min=int(row["api_min"]),
        api_max=int(row["api_max"]),
        cores=int(row["cores"]),
        ram_mb=int(row["ram_mb"]),
        features=tuple(row["features"].split()),
        products=tuple(Product(*phone.split("|")) for phone in row["phones"].split(";")),
    )
