"""From a report and the live release to the bytes that a phone gets."""
