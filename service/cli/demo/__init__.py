"""`nnfleet demo`: a fleet of simulated phones, through the real server and the real SDK, round by round."""
