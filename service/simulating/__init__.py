"""A change tried on every stored report, before anything is saved."""
