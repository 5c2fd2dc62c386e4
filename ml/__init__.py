"""learn: observations → estimates → rankings and weights, and the protocols that judge them. Offline, no service."""
