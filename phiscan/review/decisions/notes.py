"""Identifiers of a file in a reviewer's note: replaced by their types before the note is stored.

No text of the file is needed: every run of words of the note is hashed with the key of the findings, once for
each type that the file has, and compared with the file's findings; each word alone with the words of the
file's names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa

from phiscan.store.identity import N_WORD_BYTES, WORD, key_of, keyed_hashes, words_of_name
from phiscan.store.sql_batches import chunks
from phiscan.store.tables import examination, finding

MAX_WORDS = 8  # of one identifier, an address for instance
_WORD = re.compile(r"[^\W_]+")


def masked(connection: sa.Connection, results: sa.Select[Any] | Sequence[int], note: str) -> str:
    """Return a note in which each identifier found in some examinations is its type in brackets.

    Without the key of the hashes (``identity.key_of``) the note stays as it is.
    """
    key = key_of(connection)
    spans = list(_runs(note))
    if key is None or not spans:
        return note
    counted = sa.select(examination.c.finding_counts).where(examination.c.id.in_(results))
    types = sorted(set().union(*connection.execute(counted).scalars()))
    values = [(kind, note[start:end]) for start, end in spans for kind in types]
    places = dict(
        zip(keyed_hashes(key, values), ((span, kind) for span in spans for kind in types), strict=True)
    )
    found: list[tuple[tuple[int, int], str]] = []
    for batch in chunks(places):
        of_file = (
            sa.select(finding.c.identity)
            .distinct()
            .where(finding.c.examination_id.in_(results), finding.c.identity.in_(batch))
        )
        found += [places[identity] for identity in connection.execute(of_file).scalars()]
    found += _names(connection, results, note, key)
    end = len(note)
    for (first, last), kind in sorted(
        found, key=lambda one: (-one[0][1], one[0][0])
    ):  # the longest of an end
        if last <= end:
            note, end = f"{note[:first]}[{kind}]{note[last:]}", first
    return note


def _names(
    connection: sa.Connection, results: sa.Select[Any] | Sequence[int], note: str, key: bytes
) -> list[tuple[tuple[int, int], str]]:
    """Return the words of a note that are a word of a name in the file, a surname alone for instance."""
    words = [(match.span(), word) for match in _WORD.finditer(note) for word in words_of_name(match[0])]
    if not words:
        return []
    named = sa.select(finding.c.entity_type, finding.c.words).distinct()
    of_file = connection.execute(named.where(finding.c.examination_id.in_(results), finding.c.words != b""))
    kinds = {
        row.words[at : at + N_WORD_BYTES]: row.entity_type
        for row in of_file
        for at in range(0, len(row.words), N_WORD_BYTES)
    }
    hashed = (
        bytes.fromhex(one)[:N_WORD_BYTES] for one in keyed_hashes(key, [(WORD, word) for _, word in words])
    )
    return [(span, kinds[one]) for (span, _), one in zip(words, hashed, strict=True) if one in kinds]


def _runs(note: str) -> Iterator[tuple[int, int]]:
    """Yield each run of up to ``MAX_WORDS`` words, as ``[start, end)``."""
    words = [match.span() for match in _WORD.finditer(note)]
    for at, (start, _) in enumerate(words):
        for _, end in words[at : at + MAX_WORDS]:
            yield start, end
