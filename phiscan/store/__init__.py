"""The review database: engines, tables, migrations, and column types that are alike on every engine."""
