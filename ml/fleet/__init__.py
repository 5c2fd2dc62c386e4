"""A fleet to simulate: `build_fleet`, and what its phones do.

What exists      `socs` and `chipsets` (CSV), `classes`, `drivers`, `support`, `models`, `faults`, `reports`
What it costs    `silicon` (the time model), `engines` (its numbers), `partition`, `forms`, `aihub` (measured rows)
What happens     `truth` without noise, from `modelled` or `measured`; `phone` adds noise; `delivery` the network
Every number     carries its source or the word "assumed", the fleet-wide ones in `assumptions`
"""

from ml.fleet.delivery import Delivery, delivery
from ml.fleet.faults import Fault
from ml.fleet.fleet import Fleet, build_fleet
from ml.fleet.phone import Execution, Phone

__all__ = ["Delivery", "Execution", "Fault", "Fleet", "Phone", "build_fleet", "delivery"]
