"""Where an account has signed in before: the address of a session, or a browser that shows its cookie.

A browser is known by the number of a session that began in it and a digest of that session's secret. The
digest opens nothing: whoever shows it has attempts at the password of their own, which strangers cannot
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
TRUSTED: Final = "known "  # begins the source of attempts that do not count with those of strangers
_MOST_CHARS = 100


def cookie(session_id: int, secret: str) -> str:
    """Return what a browser shows later to be known as the one in which this session began."""
    return f"{session_id}.{_mark(digest(secret))}"


def source_of(
    connection: sa.Connection, account: sa.Row[Any] | None, address: str, shown: str, *, now: datetime
) -> str:
    """Return the source under which attempts on an account are counted; "" = it does not trust this one."""
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
