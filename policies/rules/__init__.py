"""Rules and denies: what an operator states, made ready to be asked, and what became of each."""
