"""The public surface of the package: what is exported is sorted, real, and imports none of our server."""

from __future__ import annotations

import subprocess
import sys

import nnfleet_client


def test_public_names_are_sorted_and_exist() -> None:
    assert nnfleet_client.__all__ == sorted(nnfleet_client.__all__)
    assert all(hasattr(nnfleet_client, name) for name in nnfleet_client.__all__)


def test_every_public_class_and_function_says_what_it_is() -> None:
    named = [getattr(nnfleet_client, name) for name in nnfleet_client.__all__ if name != "__version__"]
    assert [item for item in named if not item.__doc__] == []


def test_importing_the_client_loads_nothing_of_the_server_and_starts_no_thread() -> None:
    lines = [
        "import sys, threading, nnfleet_client",
        "loaded = {name.partition('.')[0] for name in sys.modules}",
        "assert not loaded & {'policies', 'service', 'ml', 'flask', 'numpy', 'pydantic'}, loaded",
        "assert threading.active_count() == 1",
    ]
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)
