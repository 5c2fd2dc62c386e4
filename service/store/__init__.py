"""Storage in PostgreSQL: tables, a repository module a noun, migrations."""
