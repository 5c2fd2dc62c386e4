"""How long a simulation may take. Apart from what runs it, so that a command line starts without it."""

from __future__ import annotations

from typing import Final

BUDGET_S: Final = 10.0
"""Where nobody says otherwise; a worker that answers phones pays for it."""
MOST_BUDGET_S: Final = 20.0
"""Below the time after which a web server gives a worker up."""
