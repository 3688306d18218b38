"""Parse the URL of a review database, and format it for messages without its password."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url

from phiscan.errors import StoreError

# Schemes of PostgreSQL URLs; psycopg 3 is the only supported driver.
_POSTGRESQL = frozenset({"postgresql", "postgres"})
_DRIVER = "postgresql+psycopg"

_SECRET = ("password", "passphrase", "passwd", "secret")
_HIDDEN = "***"


def parse(url: str) -> URL:
    """Parse an SQLAlchemy URL; ``postgresql://`` and ``postgres://`` select psycopg 3.

    Raises:
        StoreError: it is not a URL; the message does not quote it, since it may hold a password.
    """
    try:
        parsed = make_url(url.strip())
    except (sa.exc.ArgumentError, ValueError):  # a port that is no number: ValueError, and it quotes the URL
        message = "database: expected a URL such as sqlite:///phiscan.db or postgresql://user@host/phiscan"
        raise StoreError(message) from None
    return parsed.set(drivername=_DRIVER) if parsed.drivername in _POSTGRESQL else parsed


def shown(url: URL) -> str:
    """Return the URL for messages: without the driver, every password hidden, also those in its options.

    >>> shown(parse("postgresql://ana:hunter2@db/phiscan?sslpassword=x"))
    'postgresql://ana:***@db/phiscan?sslpassword=***'
    """
    query = {
        name: _HIDDEN if any(word in name.lower() for word in _SECRET) else value
        for name, value in url.query.items()
    }
    if url.drivername == _DRIVER:
        url = url.set(drivername="postgresql")
    return url.set(query=query).render_as_string(hide_password=True).replace("%2A%2A%2A", _HIDDEN)


def is_sqlite(url: URL) -> bool:
    """Return whether the database is an SQLite file."""
    return url.get_backend_name() == "sqlite"
