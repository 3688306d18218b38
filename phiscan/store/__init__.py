"""The review database: engines, tables, migrations, and the column types that are the same on every engine."""
