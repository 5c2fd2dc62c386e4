"""The console: a module and templates a page, read-only. Server-rendered; it reads without JavaScript."""
