"""Google Play's device groups, made from what a release decides."""
