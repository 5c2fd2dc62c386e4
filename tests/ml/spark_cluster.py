"""A Spark cluster on this machine: a master and workers, each a process with executors of its own."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

_PATIENCE_S: Final = 120.0


@dataclass(frozen=True)
class Cluster:
    """`url` of the master; the folders in which each worker's executors ran, by application."""

    url: str
    folders: tuple[Path, ...]

    def submit(self, *job: str) -> subprocess.CompletedProcess[str]:
        """Hand a Python file to the cluster as an operator would. Its executors would find no Python to start."""
        command = (_program("spark-submit"), "--master", self.url, "--conf", "spark.executor.memory=512m", *job)
        python = {"PYSPARK_PYTHON": "/nowhere/python", "PYSPARK_DRIVER_PYTHON": sys.executable}
        environment = _environment() | python
        return subprocess.run(command, env=environment, check=False, capture_output=True, text=True, timeout=600)


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[Cluster]:
    """One worker has one core and a GB; all are known to the master before anything is submitted."""
    with ExitStack() as running:
        log = running.enter_context(_process(folder / "master.log", "master.Master", "--port", "0"))
        url = _wait_for(log, r"Starting Spark master at (spark://\S+)", 1)[0]
        folders = tuple(folder / f"worker-{number}" for number in range(workers))
        for place in folders:
            options = ("--cores", "1", "--memory", "1g", "--work-dir", str(place), url)
            running.enter_context(_process(place.with_suffix(".log"), "worker.Worker", *options))
        _wait_for(log, r"Registering worker (\S+)", workers)
        yield Cluster(url, folders)


@contextmanager
def _process(log: Path, name: str, *options: str) -> Iterator[Path]:
    """A daemon of Spark's on free ports: `spark-class` turns into its Java."""
    daemon = (_program("spark-class"), f"org.apache.spark.deploy.{name}", "--host", "127.0.0.1", "--webui-port", "0")
    with log.open("w") as said:
        process = subprocess.Popen((*daemon, *options), env=_environment(), stdout=said, stderr=said)
    try:
        yield log
    finally:
        process.terminate()
        process.wait(timeout=_PATIENCE_S)


def _wait_for(log: Path, pattern: str, times: int) -> list[str]:
    deadline = time.monotonic() + _PATIENCE_S
    while len(found := re.findall(pattern, log.read_text())) < times:
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.1)
    return found


@cache
def _spark_home() -> Path:
    found = importlib.util.find_spec("pyspark")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent


def _program(name: str) -> str:
    return str(_spark_home() / "bin" / name)


def _environment() -> dict[str, str]:
    """Nothing of this machine's environment but the path to Java."""
    java = Path(shutil.which("java") or "java").parent
    return {"PATH": f"{java}:/usr/bin:/bin", "SPARK_HOME": str(_spark_home()), "SPARK_LOCAL_IP": "127.0.0.1"}
