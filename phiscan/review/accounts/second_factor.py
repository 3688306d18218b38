"""Second factor of a local account: its encrypted secret, its codes, recovery codes, and its log events.

The secret is encrypted with AES-256-GCM under a key derived from the store's signing key, bound to its
account; the database alone does not reveal it. A code is valid once: the account stores the last time step
that was used. Recovery codes are stored as keyed hashes, and each is valid once.
"""

from __future__ import annotations

import hmac
import json
import secrets
from base64 import b32encode, b64decode, b64encode
from binascii import Error as NotBase64Error
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Unpack

import sqlalchemy as sa
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from phiscan.errors import InputError, StoreError
from phiscan.language import gettext as _
from phiscan.review.accounts.accounts import Session, User, change, end_access, get, log
from phiscan.review.audit.log import Act
from phiscan.store import seals, signed_head
from phiscan.store.sql_batches import count
from phiscan.store.tables.users import UserEvent, recovery_code, user_account

N_SECRET_BYTES: Final = 20  # as long as SHA-1, which RFC 4226 asks for
N_DIGITS: Final = 6
STEP_S: Final = 30
DRIFT_STEPS: Final = 1  # tolerated clock difference: one step in either direction
ISSUER: Final = "phiscan"


def code_at(secret: bytes, step: int, *, digits: int = N_DIGITS) -> str:
    """Return the code of one time step.

    >>> code_at(b"12345678901234567890", 59 // 30, digits=8)
    '94287082'
    """
    return _totp(secret, digits).generate(step * STEP_S).decode()


def _totp(secret: bytes, digits: int = N_DIGITS) -> TOTP:
    return TOTP(secret, digits, SHA1(), STEP_S)  # noqa: S303 (what authenticator programs expect)


def step_of(now: datetime) -> int:
    """Return the number of the time step of a moment."""
    return int(now.timestamp()) // STEP_S


def matching_step(secret: bytes, code: str, *, now: datetime) -> int | None:
    """Return the time step near now that matches a code; None = none. All are compared, in constant time."""
    present = step_of(now)
    found = None
    for step in range(present - DRIFT_STEPS, present + DRIFT_STEPS + 1):
        if hmac.compare_digest(code_at(secret, step).encode(), code.encode("utf-8", "replace")):
            found = step
    return found


def written(secret: bytes) -> str:
    """Return the secret for typing into a phone: base 32 in groups of four.

    >>> written(b"12345678901234567890")
    'GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ'
    """
    text = b32encode(secret).decode()
    return " ".join(text[at : at + 4] for at in range(0, len(text), 4))


def address(secret: bytes, name: str) -> str:
    """Return the otpauth address for the QR code of authenticator programs."""
    return _totp(secret).get_provisioning_uri(name, ISSUER)


N_RECOVERY_CODES: Final = 10
PROPOSAL_LIFE: Final = timedelta(minutes=10)
_N_RECOVERY_BYTES: Final = 10  # 80 bits
_N_NONCE_BYTES: Final = 12
_PURPOSE: Final = b"phiscan second factor v1"


class Change(StrEnum):
    """Events of the second factor of an account."""

    ON = "on"
    OFF = "off"
    RESET = "reset"  # by another user
    CODES = "codes"  # new recovery codes
    RECOVERY = "recovery"  # signed in with a recovery code


@dataclass(frozen=True, slots=True)
class Proposal:
    """A new secret, shown once; the form returns ``sealed`` with the first code."""

    written: str = field(repr=False)  # for typing
    address: str = field(repr=False)  # for a QR code
    sealed: str = field(repr=False)


def propose(connection: sa.Connection, session: Session, *, now: datetime) -> Proposal:
    """Return a new secret for a signed-in user, encrypted for this account and session for the first code.

    Raises:
        StoreError: the store has no key.
    """
    secret = secrets.token_bytes(N_SECRET_BYTES)
    text = json.dumps([b64encode(secret).decode(), now.timestamp()])
    sealed = _seal(connection, text.encode(), _proposal_of(session))
    return Proposal(written(secret), address(secret, session.user.name), sealed)


def proposed(connection: sa.Connection, session: Session, sealed: str, *, now: datetime) -> Proposal | None:
    """Return a proposal again, after a wrong first code; None = it is too old or of another session."""
    secret = _proposed(connection, session, sealed, now)
    return None if secret is None else Proposal(written(secret), address(secret, session.user.name), sealed)


def _proposal_of(session: Session) -> str:
    return f"proposal {session.user.id} {session.id}"


def _proposed(connection: sa.Connection, session: Session, sealed: str, now: datetime) -> bytes | None:
    text = _open(connection, sealed, _proposal_of(session))
    if text is None:
        return None
    secret, made = json.loads(text)
    is_young = timedelta(0) <= now - datetime.fromtimestamp(made, tz=now.tzinfo) <= PROPOSAL_LIFE
    return b64decode(secret) if is_young else None


def turn_on(
    connection: sa.Connection, session: Session, sealed: str, code: str, *, address: str, now: datetime
) -> list[str] | None:
    """Store a proposed secret whose first code is correct; return the recovery codes, None = it is wrong.

    Every other session and all tokens of the user end: they began without the second factor.

    Raises:
        InputError: the account has a second factor already.
    """
    user, secret = session.user, _proposed(connection, session, sealed, now)
    step = None if secret is None else matching_step(secret, code, now=now)
    if secret is None or step is None:
        return None
    if get(connection, user.id).has_second_factor:
        raise InputError(_("second factor: there is one already; remove it first"))
    end_access(connection, user.id, but=session.id, now=now)
    values = {"second_factor": _seal(connection, secret, f"account {user.id}"), "second_factor_step": step}
    more = {"value": Change.ON.value, "address": address}
    change(connection, user.id, UserEvent.SECOND_FACTOR, values, by=user.name, now=now, **more)
    return _renew_codes(connection, user.id)


def turn_off(connection: sa.Connection, user: User, *, address: str, now: datetime) -> None:
    """Remove the second factor of a user who has confirmed password and code.

    Raises:
        InputError: there is none.
    """
    _remove(connection, user.id, Change.OFF, address, by=user.name, now=now)


def reset(connection: sa.Connection, user_id: int, *, address: str = "", **act: Unpack[Act]) -> None:
    """Remove the second factor of another user, who has lost it; sessions end, tokens are revoked.

    Raises:
        InputError: there is no such account, or it has none.
    """
    end_access(connection, user_id, now=act["now"])
    _remove(connection, user_id, Change.RESET, address, **act)


def _remove(connection: sa.Connection, user_id: int, how: Change, address: str, **act: Unpack[Act]) -> None:
    """Delete the secret and the recovery codes of an account."""
    if not get(connection, user_id).has_second_factor:
        raise InputError(_("user {user_id}: has no second factor", user_id=user_id))
    seals.remove(connection, recovery_code, recovery_code.c.user_id == user_id)
    values = {"second_factor": "", "second_factor_step": 0}
    change(connection, user_id, UserEvent.SECOND_FACTOR, values, value=how.value, address=address, **act)


def new_recovery_codes(connection: sa.Connection, user: User, *, address: str, now: datetime) -> list[str]:
    """Return new recovery codes for a user who has confirmed password and code."""
    event, codes = UserEvent.SECOND_FACTOR, _renew_codes(connection, user.id)
    log(connection, event, user.id, value=Change.CODES.value, address=address, by=user.name, now=now)
    return codes


def _renew_codes(connection: sa.Connection, user_id: int) -> list[str]:
    """Return new recovery codes; the previous ones become invalid."""
    seals.remove(connection, recovery_code, recovery_code.c.user_id == user_id)
    codes = [_recovery_code() for _ in range(N_RECOVERY_CODES)]
    rows = [
        {"user_id": user_id, "code_hash": _code_hash(connection, user_id, _plain(code)), "used": None}
        for code in codes
    ]
    seals.insert(connection, recovery_code, rows)
    return codes


def accept(
    connection: sa.Connection, account: sa.Row[Any], code: str, *, address: str, now: datetime
) -> bool:
    """Use a code of an account, once: a code of its secret, or a recovery code."""
    plain = _plain(code)
    secret = _open(connection, account.second_factor, f"account {account.id}")
    if secret is None:
        return False
    step = matching_step(secret, plain, now=now)
    if step is not None:
        if account.second_factor_step >= step:
            return False
        seals.update(connection, user_account, account.id, {"second_factor_step": step})
        return True
    unused = (
        (recovery_code.c.user_id == account.id)
        & (recovery_code.c.code_hash == _code_hash(connection, account.id, plain))
        & recovery_code.c.used.is_(None)
    )
    found = seals.rows(connection, recovery_code, unused).first()
    if found is None or not seals.is_right(connection, recovery_code, found):
        return False
    seals.update(connection, recovery_code, found["id"], {"used": now})
    event, name = UserEvent.SECOND_FACTOR, account.name
    log(connection, event, account.id, value=Change.RECOVERY.value, address=address, by=name, now=now)
    return True


def n_recovery_codes(connection: sa.Connection, user: User) -> int:
    """Return how many recovery codes of a user are unused."""
    unused = (recovery_code.c.user_id == user.id) & recovery_code.c.used.is_(None)
    return count(connection, recovery_code, unused)


def _recovery_code() -> str:
    text = b32encode(secrets.token_bytes(_N_RECOVERY_BYTES)).decode().lower()
    return "-".join(text[at : at + 4] for at in range(0, len(text), 4))


def _code_hash(connection: sa.Connection, user_id: int, plain: str) -> str:
    """Return the keyed hash of a recovery code, bound to its account, so that a moved row matches no code."""
    return hmac.digest(_key(connection), f"recovery {user_id} {plain}".encode(), "sha256").hex()


def _plain(code: str) -> str:
    """Return a code without separators, in lower case."""
    return "".join(char for char in code.lower() if char.isalnum())


def _key(connection: sa.Connection) -> bytes:
    key = signed_head.key_of(connection)
    if key is None:
        message = _("second factor: the store was opened without its key (audit.key in phiscan's home)")
        raise StoreError(message)
    return hmac.digest(key, _PURPOSE, "sha256")


def _seal(connection: sa.Connection, text: bytes, bound_to: str) -> str:
    nonce = secrets.token_bytes(_N_NONCE_BYTES)
    sealed = AESGCM(_key(connection)).encrypt(nonce, text, bound_to.encode())
    return b64encode(nonce + sealed).decode()


def _open(connection: sa.Connection, sealed: str, bound_to: str) -> bytes | None:
    """Return the decrypted value; None = it was encrypted for another purpose or with another key."""
    try:
        data = b64decode(sealed, validate=True)
        return AESGCM(_key(connection)).decrypt(
            data[:_N_NONCE_BYTES], data[_N_NONCE_BYTES:], bound_to.encode()
        )
    except (NotBase64Error, ValueError, InvalidTag):
        return None
