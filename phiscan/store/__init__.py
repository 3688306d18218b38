"""The review database: engines, tables, migrations, and column types for SQLite and PostgreSQL."""
