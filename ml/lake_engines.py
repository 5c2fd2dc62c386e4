"""What runs the expressions of `ml.lake`: DuckDB in this process, or Spark, here or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import Any, Final, Protocol

import duckdb
import fsspec
import narwhals as nw

from ml.lake import Frame


class EngineError(Exception):
    """An engine that is not there, or a lake without observations."""


class Engine(Protocol):
    """Reads observations of a lake, which is a folder or a URL, and writes tables that were made of them."""

    def observations(self, lake: str) -> Frame:
        """All of them. Raises EngineError where there are none."""
        ...

    def portions(self, lake: str) -> Iterator[tuple[str | None, Frame]]:
        """The same in portions of whole days, as suits the engine: (the day, where it is one, its observations)."""
        ...

    def write(self, frame: Frame, place: str, day: str | None = None, /) -> None:
        """Write a table as Parquet in the folder `place`; `day` as its portion said. What it holds of a day is replaced."""
        ...


class DuckDB:
    """One process, a day at a time: a day's cells stay in the processor's cache, and memory is bounded by one day."""

    def __init__(self) -> None:
        self._connection = duckdb.connect()

    def observations(self, lake: str) -> Frame:
        """All days of a lake."""
        if not list(self.portions(lake)):
            raise EngineError(f"no observations in {lake}")
        return self._read(f"{lake.rstrip('/')}/observations/*/*.parquet")

    def portions(self, lake: str) -> Iterator[tuple[str, Frame]]:
        """A day at a time."""
        files, root = self._files(lake)
        for folder in sorted(files.glob(f"{root.rstrip('/')}/observations/day=*")):
            name = folder.rstrip("/").rpartition("/")[2]
            yield name.removeprefix("day="), self._read(f"{lake.rstrip('/')}/observations/{name}/*.parquet")

    def write(self, frame: Frame, place: str, day: str | None = None, /) -> None:
        """One file, in its day's folder."""
        folder = place if day is None else f"{place}/day={day}"
        table = frame if day is None else frame.drop("day")
        files, path = self._files(folder)
        files.makedirs(path, exist_ok=True)
        table.to_native().write_parquet(f"{folder}/part.parquet", compression="zstd")

    def _read(self, path: str) -> Frame:
        return nw.from_native(self._connection.read_parquet(path, hive_partitioning=True))

    def _files(self, place: str) -> tuple[Any, str]:
        """The file system that a place is on, which DuckDB is told of where it is not this machine's own."""
        files, path = fsspec.core.url_to_fs(place)
        names = (files.protocol,) if isinstance(files.protocol, str) else files.protocol
        if "file" not in names and not self._connection.filesystem_is_registered(names[0]):
            self._connection.register_filesystem(files)
        return files, path


class Spark:
    """All days at once, by the session that `spark-submit` set up, else on this machine's cores."""

    def __init__(self) -> None:
        try:
            from pyspark.errors import PySparkRuntimeError
            from pyspark.sql import SparkSession
        except ImportError as error:
            raise EngineError("PySpark is not installed: make spark") from error
        try:
            self._session = SparkSession.builder.appName("nnfleet rollup").getOrCreate()
        except PySparkRuntimeError as error:
            raise EngineError(f"Spark does not start; it needs Java 17 or newer: {error}") from error
        self._session.conf.set("spark.sql.session.timeZone", "UTC")
        self._session.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")

    def observations(self, lake: str) -> Frame:
        """All days of a lake."""
        from pyspark.errors import AnalysisException

        try:
            found: Frame = nw.from_native(self._session.read.parquet(f"{lake.rstrip('/')}/observations"))
        except AnalysisException as error:
            raise EngineError(f"no observations in {lake}") from error
        return found

    def portions(self, lake: str) -> Iterator[tuple[None, Frame]]:
        """All days at once."""
        yield None, self.observations(lake)

    def write(self, frame: Frame, place: str, _day: str | None = None, /) -> None:
        """As many files as Spark has tasks, in folders by day where the table has days."""
        table = frame.to_native()
        writer = table.write.mode("overwrite").option("compression", "zstd")
        (writer.partitionBy("day") if "day" in table.columns else writer).parquet(place)


ENGINES: Final = MappingProxyType[str, Callable[[], Engine]]({"duckdb": DuckDB, "spark": Spark})
