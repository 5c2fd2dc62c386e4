"""What the API and the console share: the door, bodies, problems."""
