"""LiteRT behind one face: the CPU by the interpreter, the GPU by the compiled model. Imported in the child process alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from ai_edge_litert.compiled_model import CompiledModel, CpuOptions, HardwareAccelerator, Options
from ai_edge_litert.interpreter import Interpreter
from numpy.typing import NDArray

from nnfleet_litert.slices import Delegation, Op, delegation

Array = NDArray[Any]
NS_A_US: Final = 1_000


class Engine(Protocol):
    """One compiled file. Times are in µs; compiling is apart from loading."""

    load_us: int
    compile_us: int

    def shapes(self) -> list[tuple[tuple[int, ...], str]]:
        """Shape and element type of every input."""
        ...

    def feed(self, inputs: Sequence[Array]) -> None:
        """Set the inputs of the runs to come."""
        ...

    def run(self) -> int:
        """Run once and have the outputs; the time that takes, in µs."""
        ...

    def outputs(self) -> list[Array]:
        """The outputs of the last run as real numbers, whatever they are stored as."""
        ...

    def executed(self) -> Mapping[str, Any]:
        """Who ran: `by` (None where the caller has to say), `delegated_nodes`, `total_nodes`, `partitions`."""
        ...


def _us_since(start_ns: int) -> int:
    return (time.perf_counter_ns() - start_ns) // NS_A_US


def _ops(interpreter: Interpreter) -> list[Op]:
    """The nodes of the main graph."""
    return [
        Op(details["op_name"], _numbers(details["inputs"]), _numbers(details["outputs"]))
        for details in interpreter._get_ops_details()
    ]


def _numbers(tensors: Array) -> tuple[int, ...]:
    return tuple(int(tensor) for tensor in tensors if tensor >= 0)


class CpuEngine:
    """The CPU: XNNPACK takes what it can, LiteRT's own kernels run the rest."""

    def __init__(self, file: Path, threads: int) -> None:
        start_ns = time.perf_counter_ns()
        self._interpreter = Interpreter(str(file), num_threads=threads)
        self.load_us = _us_since(start_ns)
        start_ns = time.perf_counter_ns()
        self._interpreter.allocate_tensors()
        self.compile_us = _us_since(start_ns)
        self._inputs = self._interpreter.get_input_details()
        self._outputs = self._interpreter.get_output_details()

    def shapes(self) -> list[tuple[tuple[int, ...], str]]:
        """Shape and element type of every input."""
        return [(tuple(int(n) for n in one["shape"]), np.dtype(one["dtype"]).name) for one in self._inputs]

    def feed(self, inputs: Sequence[Array]) -> None:
        """Set the inputs, quantised where the file wants them so."""
        for one, values in zip(self._inputs, inputs, strict=True):
            self._interpreter.set_tensor(one["index"], _stored(values, one))

    def run(self) -> int:
        """Run once."""
        start_ns = time.perf_counter_ns()
        self._interpreter.invoke()
        return _us_since(start_ns)

    def outputs(self) -> list[Array]:
        """The outputs as real numbers."""
        return [_real(self._interpreter.get_tensor(one["index"]), one) for one in self._outputs]

    def executed(self) -> Mapping[str, Any]:
        """XNNPACK and what it took; without a piece, LiteRT's own kernels."""
        found = delegation(_ops(self._interpreter))
        by = "TfLiteXNNPackDelegate" if found.pieces else "litert-kernels:cpu"
        return {"by": by, **_counted(found)}


class GpuEngine:
    """The GPU accelerator of the package, which is WebGPU here. Nothing falls back inside: the ladder does that."""

    def __init__(self, file: Path, threads: int) -> None:
        start_ns = time.perf_counter_ns()
        content = file.read_bytes()
        self.load_us = _us_since(start_ns)
        self._total = len(_ops(Interpreter(model_content=content)))
        options = Options(hardware_accelerators=HardwareAccelerator.GPU, cpu_options=CpuOptions(num_threads=threads))
        start_ns = time.perf_counter_ns()
        self._model = CompiledModel.from_buffer(content, options=options)
        self.compile_us = _us_since(start_ns)
        key = next(iter(self._model.get_signature_list()))
        self._inputs = list(self._model.get_input_tensor_details(key).values())
        self._outputs = list(self._model.get_output_tensor_details(key).values())
        self._in, self._out = self._model.create_input_buffers(0), self._model.create_output_buffers(0)
        self._read: list[Array] = []

    def shapes(self) -> list[tuple[tuple[int, ...], str]]:
        """Shape and element type of every input."""
        return [(tuple(one["shape"]), str(one["dtype"])) for one in self._inputs]

    def feed(self, inputs: Sequence[Array]) -> None:
        """Set the inputs."""
        for one, buffer, values in zip(self._inputs, self._in, inputs, strict=True):
            buffer.write(np.ascontiguousarray(values, dtype=str(one["dtype"])))

    def run(self) -> int:
        """Run once and read the outputs: a GPU is handed its work and returns at once, which is no latency."""
        start_ns = time.perf_counter_ns()
        self._model.run_by_index(0, self._in, self._out)
        self._read = [
            buffer.read(int(np.prod(one["shape"])), np.dtype(str(one["dtype"])).type)
            for one, buffer in zip(self._outputs, self._out, strict=True)
        ]
        return _us_since(start_ns)

    def outputs(self) -> list[Array]:
        """The outputs of the last run."""
        return [
            np.asarray(read, dtype=np.float64).reshape(one["shape"])
            for one, read in zip(self._outputs, self._read, strict=True)
        ]

    def executed(self) -> Mapping[str, Any]:
        """All nodes in one piece, where the runtime says that it is accelerated whole; else nobody says which."""
        if not self._model.is_fully_accelerated():
            return {"by": None, "total_nodes": self._total}
        return {"by": None, **_counted(Delegation(1, self._total, self._total))}


def _counted(found: Delegation) -> dict[str, int]:
    return {"delegated_nodes": found.delegated, "total_nodes": found.total, "partitions": found.pieces}


def _stored(values: Array, details: Mapping[str, Any]) -> Array:
    scale, zero = details["quantization"]
    kind = np.dtype(details["dtype"])
    if kind.kind == "f" or not scale:
        return np.ascontiguousarray(values, dtype=kind)
    limits = np.iinfo(kind)
    stored: Array = np.clip(np.rint(values / scale) + zero, limits.min, limits.max).astype(kind)
    return stored


def _real(values: Array, details: Mapping[str, Any]) -> Array:
    scale, zero = details["quantization"]
    real = np.asarray(values, dtype=np.float64)
    return (real - zero) * scale if scale else real


ENGINES: Final[Mapping[str, Callable[[Path, int], Engine]]] = {"cpu": CpuEngine, "gpu": GpuEngine}
"""By the delegate that a decision names."""
