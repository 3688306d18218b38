"""Match keys to 64-bit keyed hashes: HMAC-SHA256, for numbers of a small space after scrypt.

The key is in a separate file, outside the index and the database. Without it a hash reveals nothing; with it,
every guess costs one HMAC, and for record and card numbers one scrypt. The guesses per second are in
docs/explanation/patient-index.md.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from functools import cached_property

from phiscan.patients.records import HARD, Kind

_BLOCK = 8  # scrypt's r: n * 128 * r bytes of memory for each guess, 16 KiB with n = 16
_N_BYTES = 8


@dataclass(frozen=True)
class Hasher:
    """Hashes the match keys of one index."""

    key: bytes = field(repr=False)
    hard_cost: int

    @cached_property
    def _salt(self) -> bytes:
        return hmac.digest(self.key, b"patients\0salt", "sha256")

    @property
    def key_id(self) -> str:
        """The check value of the key: it distinguishes keys and reveals nothing about them."""
        return hmac.digest(self.key, b"patients\0check", "sha256").hex()[:16]

    def match_key(self, kind: Kind, value: str) -> int:
        """Return the hash of a match key."""
        message = f"{kind.value}\0{value}".encode()
        if kind in HARD:
            message = hashlib.scrypt(message, salt=self._salt, n=self.hard_cost, r=_BLOCK, p=1, dklen=32)
        return self._hash(b"key\0" + message)

    def part(self, name: str, value: str) -> int:
        """Return the hash of a part (name pair, word of a name, birth date) that is only counted."""
        return self._hash(f"part\0{name}\0{value}".encode())

    def _hash(self, message: bytes) -> int:
        return int.from_bytes(hmac.digest(self.key, message, "sha256")[:_N_BYTES], "little")
