"""Time-based one-time codes (RFC 6238 over RFC 4226): a secret and a time to six digits, by HMAC-SHA1."""

from __future__ import annotations

import hmac
import struct
from base64 import b32encode
from datetime import datetime
from typing import Final
from urllib.parse import quote, urlencode

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
    mac = hmac.digest(secret, struct.pack(">Q", step), "sha1")
    at = mac[-1] & 0xF
    number = int.from_bytes(mac[at : at + 4], "big") & 0x7FFFFFFF
    return str(number % 10**digits).zfill(digits)


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
    query = urlencode({"secret": b32encode(secret).decode(), "issuer": ISSUER})
    return f"otpauth://totp/{ISSUER}:{quote(name, safe='')}?{query}"
