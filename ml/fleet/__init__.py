"""A fleet to simulate: `build_fleet`, and what its phones do."""

from ml.fleet.delivery import Delivery, delivery
from ml.fleet.faults import Fault
from ml.fleet.fleet import Fleet, build_fleet
from ml.fleet.phone import Execution, Phone

__all__ = ["Delivery", "Execution", "Fault", "Fleet", "Phone", "build_fleet", "delivery"]
