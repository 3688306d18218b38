"""Passwords: validation, and their Argon2id hash. No password is ever stored, logged or shown."""

from __future__ import annotations

import functools
import unicodedata

from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

from phiscan.errors import InputError
from phiscan.language import gettext as _

MIN_CHARS = 12
MAX_CHARS = 256  # longer ones would only cost time

_HASHER = PasswordHash((Argon2Hasher(),))  # RFC 9106, second recommended option: 64 MiB, 3 passes, 4 lanes


def hashed(password: str, *, name: str) -> str:
    """Return the Argon2id hash of a valid password of the user with this name.

    Raises:
        InputError: names the requirements, never the password.
    """
    folded = normal(password)
    if not MIN_CHARS <= len(folded) <= MAX_CHARS:
        message = _(
            "password: expected {min_chars} to {max_chars} characters",
            min_chars=MIN_CHARS,
            max_chars=MAX_CHARS,
        )
        raise InputError(message)
    if any(unicodedata.category(char) == "Cc" for char in folded):
        raise InputError(_("password: expected no control characters"))
    if name.casefold() in folded.casefold() or len(set(folded)) < MIN_CHARS // 2:
        message = _(
            "password: expected something harder to guess: not the name, not a few characters repeated"
        )
        raise InputError(message)
    return _HASHER.hash(folded)


def is_right(password: str, stored: str) -> bool:
    """Return whether a password matches a hash, in the same time if there is no hash."""
    folded = normal(password)[: MAX_CHARS + 1]
    if not stored:
        _HASHER.verify(folded, _unmatched_hash())
        return False
    return _HASHER.verify(folded, stored)


def normal(password: str) -> str:
    """Return the normalized form of a password, independent of the keyboard (RFC 8265)."""
    return unicodedata.normalize("NFC", password)


@functools.cache
def _unmatched_hash() -> str:
    """Return a hash that no password matches, so that an unknown name takes as long as a known one."""
    return _HASHER.hash("\x00")
