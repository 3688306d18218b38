"""What Alembic runs to get at the database: the connection that ``migrate`` hands over."""

from alembic import context

from phiscan.store.tables import metadata

# Alembic sets its context up and runs this file; whoever only imports it (a doctest run) does nothing.
if hasattr(context, "config"):
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=metadata,
        transactional_ddl=True,  # BEGIN and COMMIT are ours, also on SQLite
        render_as_batch=True,  # SQLite alters a table by copying it
    )
    with context.begin_transaction():
        context.run_migrations()
