"""Roll a lake up: what `nnfleet rollup` does, and what `spark-submit` runs on a cluster, where the service is not.

`counts/day=…` and `latencies/day=…` hold the rollup of each day, `features` what the learner reads of each cell over all
days. Whichever engine made them, they are the same rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import datetime

from ml.lake import counts, latencies, windows
from ml.lake_engines import ENGINES, Engine
from ml.lake_features import features


def roll_up(engine: Engine, lake: str, to: str, crashed_before: datetime) -> Iterator[str]:
    """Yield what was written, table by table. `crashed_before`: see `ml.lake_features`. Raises EngineError."""
    yield from roll_up_days(engine, lake, to)
    engine.write(features(engine.observations(lake), crashed_before), f"{to.rstrip('/')}/features")
    yield "features"


def roll_up_days(engine: Engine, lake: str, to: str) -> Iterator[str]:
    """Write counts and merged histograms of every day, and yield what was written."""
    for day, observations in engine.portions(lake):
        learned = windows(observations)
        engine.write(counts(learned), f"{to.rstrip('/')}/counts", day)
        engine.write(latencies(learned), f"{to.rstrip('/')}/latencies", day)
        yield f"counts and latencies of {day or 'all days'}"


def main() -> None:
    """The command line of the job."""
    parser = argparse.ArgumentParser(description="Roll up the observations of a lake.")
    parser.add_argument("lake", help="folder or URL that holds observations/day=…")
    parser.add_argument("--to", required=True, help="folder or URL that counts, latencies and features go to")
    parser.add_argument("--engine", choices=sorted(ENGINES), default="spark")
    parser.add_argument(
        "--crashed-before", required=True, type=datetime.fromisoformat,
        help="a start before this moment that no window followed is a crash: 2026-05-02T00:00:00+00:00",
    )  # fmt: skip
    asked = parser.parse_args()
    for written in roll_up(ENGINES[asked.engine](), asked.lake, asked.to, asked.crashed_before):
        print(written)


if __name__ == "__main__":
    main()
