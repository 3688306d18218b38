"""Hashes under the secret key: protocol, and implementation with the key.

The identity of a value is an HMAC-SHA256, a word of a signature a keyed BLAKE2b of 8 bytes.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from hashlib import blake2b, sha256
from typing import Protocol

DIGEST_BYTES, WORD_BYTES, SEED_BYTES = 32, 8, 4


class Hasher(Protocol):
    """Computes hashes under the secret key."""

    def identities(self, messages: Sequence[bytes]) -> list[bytes]:
        """Return the HMAC-SHA256 of each message."""
        ...  # pragma: no cover

    def words(self, words: Sequence[bytes]) -> list[bytes]:
        """Return a keyed BLAKE2b of 8 bytes of each word."""
        ...  # pragma: no cover

    def seed(self) -> int:
        """Return the 32-bit seed of the permutations of signatures."""
        ...  # pragma: no cover


class KeyHasher:
    """Computes hashes in this process, with the key."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def identities(self, messages: Sequence[bytes]) -> list[bytes]:
        """Return the HMAC-SHA256 of each message."""
        return [hmac.digest(self._key, message, "sha256") for message in messages]

    def words(self, words: Sequence[bytes]) -> list[bytes]:
        """Return a keyed BLAKE2b of 8 bytes of each word."""
        return [blake2b(word, digest_size=WORD_BYTES, key=self._key).digest() for word in words]

    def seed(self) -> int:
        """Return the 32-bit seed of the permutations of signatures."""
        return int.from_bytes(sha256(b"signature\0" + self._key).digest()[:SEED_BYTES])
