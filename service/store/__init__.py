"""Storage in PostgreSQL: tables, a repository module a noun, migrations."""

# Whoever reads the metadata finds every table in it, whichever module of them was asked for.
from service.store import people_tables as people_tables
