"""The adapter around the core: HTTP API, console, storage, releases."""
