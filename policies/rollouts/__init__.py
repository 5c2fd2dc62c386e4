"""Staged releases: steps, guardrails, and both sides in one document."""
