"""Known sign-in sources of an account: the address of an earlier session, or a browser with its cookie.

The cookie contains the number of a session that began in the browser and a digest of that session's secret.
The digest authenticates nobody: it only gives its bearer separate password attempts, which strangers cannot
use up.
"""

from __future__ import annotations

import hmac
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Final

import sqlalchemy as sa

from phiscan.review.accounts.sessions import digest
from phiscan.store.tables.users import web_session

KNOWN_FOR: Final = timedelta(days=90)
TRUSTED: Final = "known "  # prefix of sources whose attempts are counted separately
_MOST_CHARS = 100


def cookie(session_id: int, secret: str) -> str:
    """Return the cookie value by which the browser of this session is known later."""
    return f"{session_id}.{_mark(digest(secret))}"


def source_of(
    connection: sa.Connection, account: sa.Row[Any] | None, address: str, shown: str, *, now: datetime
) -> str:
    """Return the source under which attempts on an account are counted; "" = not a trusted source."""
    if account is None:
        return ""
    of_account = (web_session.c.user_id == account.id) & (web_session.c.created > now - KNOWN_FOR)
    number, _, mark = shown[:_MOST_CHARS].partition(".")
    if number.isascii() and number.isdecimal() and len(number) < len(str(2**63)):
        query = sa.select(web_session.c.token_hash).where(of_account, web_session.c.id == int(number))
        kept = connection.execute(query).scalar()
        if kept is not None and hmac.compare_digest(_mark(kept).encode(), mark.encode()):
            return f"{TRUSTED}browser {number}"
    here = sa.select(web_session.c.id).where(of_account, web_session.c.address == address).limit(1)
    is_known = bool(address) and connection.execute(here).first() is not None
    return f"{TRUSTED}{address}" if is_known else ""


def _mark(token_hash: str) -> str:
    return sha256(f"known browser {token_hash}".encode()).hexdigest()
