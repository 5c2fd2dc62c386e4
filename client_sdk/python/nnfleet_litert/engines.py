"""LiteRT behind one face: a compiled model on the CPU or the GPU, and beside it an interpreter that tells what the file says.

Imported in the child process alone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from ai_edge_litert.compiled_model import CompiledModel, CpuOptions, HardwareAccelerator, Options
from ai_edge_litert.environment import Environment
from ai_edge_litert.interpreter import Interpreter
from numpy.typing import NDArray

from nnfleet_litert.quantised import real, stored
from nnfleet_litert.slices import Delegation, Op, delegation

Array = NDArray[Any]
NS_A_US: Final = 1_000
ACCELERATORS: Final[Mapping[str, HardwareAccelerator]] = {
    "cpu": HardwareAccelerator.CPU,
    "gpu": HardwareAccelerator.GPU,
}
"""By the delegate that a decision names. Never both: nothing falls back inside, the ladder does that."""


class Engine:
    """One compiled file: `load_us` to read it, `compile_us` until it has its buffers. What LiteRT plans later is in the first run.

    `weights` is where the CPU's packed weights are kept; LiteRT writes the file where there is none. A GPU keeps nothing.
    """

    def __init__(self, file: Path, delegate: str, threads: int, weights: Path | None) -> None:
        environment = Environment.create()  # once a process, so no part of what an arm costs
        start_ns = time.perf_counter_ns()
        self._reader = Interpreter(str(file), num_threads=threads)
        self.load_us = _us_since(start_ns)
        cpu = CpuOptions(num_threads=threads, xnnpack_weight_cache_path=os.fspath(weights or ""))
        options = Options(hardware_accelerators=ACCELERATORS[delegate], cpu_options=cpu)
        start_ns = time.perf_counter_ns()
        self._model = CompiledModel.from_file(str(file), environment=environment, options=options)
        self._in, self._out = self._model.create_input_buffers(0), self._model.create_output_buffers(0)
        self.compile_us = _us_since(start_ns)
        self._on_cpu = delegate == "cpu"
        self._inputs, self._outputs = self._reader.get_input_details(), self._reader.get_output_details()
        self._place_buffers()
        self._read: list[Array] = []

    def shapes(self) -> list[tuple[tuple[int, ...], str]]:
        """Shape and element type of every input, in the file's order."""
        return [(tuple(int(n) for n in one["shape"]), np.dtype(one["dtype"]).name) for one in self._inputs]

    def feed(self, inputs: Sequence[Array]) -> None:
        """Set the inputs of the runs to come, quantised where the file wants them so."""
        for one, buffer, values in zip(self._inputs, self._in, inputs, strict=True):
            buffer.write(stored(values, one))

    def run(self) -> int:
        """Run once and read the outputs; the time that takes, in µs. A GPU is handed its work and returns at once."""
        start_ns = time.perf_counter_ns()
        self._model.run_by_index(0, self._by_signature_in, self._by_signature_out)
        self._read = [
            buffer.read(int(np.prod(one["shape"])), np.dtype(one["dtype"]).type)
            for one, buffer in zip(self._outputs, self._out, strict=True)
        ]
        return _us_since(start_ns)

    def outputs(self) -> list[Array]:
        """The outputs of the last run as real numbers, in the file's order."""
        return [real(np.reshape(read, one["shape"]), one) for one, read in zip(self._outputs, self._read, strict=True)]

    def executed(self) -> Mapping[str, Any]:
        """Who ran: `by` (None of a GPU, whose name only the log knows), and counts of nodes where they are known.

        A GPU takes a graph whole, or LiteRT refuses to compile for it. For the CPU LiteRT says no more than whether
        everything was taken, so the interpreter is delegated the same way and asked; a contradiction is left untold.
        """
        found = self._on_the_cpu() if self._on_cpu else _whole(len(_ops(self._reader)))
        by = None if not self._on_cpu else "TfLiteXNNPackDelegate" if found.pieces else "litert-kernels:cpu"
        if self._model.is_fully_accelerated() != (found.delegated == found.total):
            return {"by": by, "total_nodes": found.total}
        return {"by": by, "delegated_nodes": found.delegated, "total_nodes": found.total, "partitions": found.pieces}

    def _on_the_cpu(self) -> Delegation:
        self._reader.allocate_tensors()
        return delegation(_ops(self._reader))

    def _place_buffers(self) -> None:
        """Buffers come in the order of the signature, which need not be the file's: tensors are told apart by their numbers."""
        self._by_signature_in, self._by_signature_out = list(self._in), list(self._out)
        key = next(iter(self._model.get_signature_list()))
        self._in = _in_order(self._in, self._model.get_input_tensor_details(key), self._inputs)
        self._out = _in_order(self._out, self._model.get_output_tensor_details(key), self._outputs)


def _in_order(buffers: Sequence[Any], signature: Mapping[str, Any], file: Sequence[Mapping[str, Any]]) -> list[Any]:
    by_number = {one["index"]: buffer for one, buffer in zip(signature.values(), buffers, strict=True)}
    return [by_number[one["index"]] for one in file]


def _us_since(start_ns: int) -> int:
    return (time.perf_counter_ns() - start_ns) // NS_A_US


def _whole(total: int) -> Delegation:
    return Delegation(1, total, total)


def _ops(interpreter: Interpreter) -> list[Op]:
    """The nodes of the main graph."""
    return [
        Op(details["op_name"], _numbers(details["inputs"]), _numbers(details["outputs"]))
        for details in interpreter._get_ops_details()
    ]


def _numbers(tensors: Array) -> tuple[int, ...]:
    return tuple(int(tensor) for tensor in tensors if tensor >= 0)
