"""The long version of the kills, for `make soak`: `python -m faults.soak [--kills 100]`, with `tests` on the path."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

from faults.phones import compare
from faults.site import site
from faults.storms import kill_backends, kill_workers, sending


def main() -> None:
    """Kill workers, then PostgreSQL, and print the counts; fails where an acknowledged record is missing or doubled."""
    parser = argparse.ArgumentParser(description="Kill processes while phones send.")
    parser.add_argument("--kills", type=int, default=100, help="workers killed; a tenth as often PostgreSQL")
    kills: int = parser.parse_args().kills
    chance = random.Random(0)
    temporary = tempfile.TemporaryDirectory(prefix="nnfleet-soak-", ignore_cleanup_errors=True)
    with temporary as folder, site(Path(folder)) as found:
        with sending(found) as phones:
            workers = kill_workers(found, phones, kills, chance)
            databases = kill_backends(found, phones, max(1, kills // 10), chance)
        stored = compare(found.engine, phones.ledger)
    print(
        f"{workers} workers and PostgreSQL {databases} times killed, {phones.ledger.cut_off} requests cut off: {stored}"
    )
    sys.exit(bool(stored.missing or stored.doubled))


if __name__ == "__main__":
    main()
