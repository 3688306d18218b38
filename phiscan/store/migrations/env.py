"""Alembic's environment: it runs the migrations on the connection of ``migrate``."""

from alembic import context

from phiscan.store.tables.schema import metadata

# Alembic sets its context up and runs this file; a plain import (a doctest run) does nothing.
if hasattr(context, "config"):
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=metadata,
        transactional_ddl=True,  # BEGIN and COMMIT are sent by phiscan, also on SQLite
        render_as_batch=True,  # SQLite alters a table by copying it
    )
    with context.begin_transaction():
        context.run_migrations()
