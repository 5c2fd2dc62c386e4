"""From a change that somebody wants to the release that phones are served."""
