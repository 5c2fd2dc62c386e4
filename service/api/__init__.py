"""The HTTP API: a module a noun, errors in one place."""
