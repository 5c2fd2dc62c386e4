"""The console: a module and templates a page."""
