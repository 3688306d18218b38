"""The URL of a review database: which driver it means, and how it is shown without its password."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url

from phiscan.errors import StoreError

# The names under which people write a PostgreSQL URL; psycopg 3 is the one driver that we ship and test.
_POSTGRESQL = frozenset({"postgresql", "postgres"})
_DRIVER = "postgresql+psycopg"

_SECRET = ("password", "passphrase", "passwd", "secret")
_HIDDEN = "***"


def parse(url: str) -> URL:
    """Read an SQLAlchemy URL; ``postgresql://`` and ``postgres://`` mean psycopg 3.

    Raises:
        StoreError: it is not a URL; the message holds nothing of it, since it may hold a password.
    """
    try:
        parsed = make_url(url.strip())
    except (sa.exc.ArgumentError, ValueError):  # a port that is no number: ValueError, and it quotes the URL
        message = "database: expected a URL such as sqlite:///phiscan.db or postgresql://user@host/phiscan"
        raise StoreError(message) from None
    return parsed.set(drivername=_DRIVER) if parsed.drivername in _POSTGRESQL else parsed


def shown(url: URL) -> str:
    """Return the URL for messages: as people write it, every password hidden, also those among its options.

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
    """Tell whether the database is a file of SQLite."""
    return url.get_backend_name() == "sqlite"
