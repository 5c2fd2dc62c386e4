"""One decision taken apart, for people who ask why."""
