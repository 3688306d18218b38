"""Find every health term of a text in one pass: whole words, longest first, inflection folded.

A term is a sequence of folded words; its key is the hash of the hashes of its words. At each length the
words that cannot begin a term any more are dropped, so that nearly all words are looked at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from phiscan.classify.tokens import CHUNK_CHARS, Hashes, Offsets, Tokens, chunks, tokenize

MAX_WORDS: Final = 6  # longer terms are cut by the build scripts
CONTEXT_CHARS: Final = 150  # how near a sure term must be to a term that needs context
_MULTIPLIER: Final = np.uint64(0xD6E8FEB86659FD93)
_FILTER_BITS: Final = 18
_NONE: Final = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Term:
    """One form of a concept, and what it needs to count."""

    text: str
    concept: str
    case: bool = False  # counts only as written here (AIDS, not aids)
    context: bool = False  # counts only near a term that needs none (cold, mole, discharge)


@dataclass(frozen=True, slots=True)
class Hits:
    """The terms found in a text, in text order; parallel arrays of one element per hit."""

    starts: Offsets
    ends: Offsets
    terms: npt.NDArray[np.int64]  # indices into TermMatcher.terms_


@dataclass(slots=True)
class TermMatcher:
    """Match a list of terms. Constructor only stores; ``fit`` compiles; what it learns ends in ``_``."""

    max_words: int = MAX_WORDS
    terms_: tuple[Term, ...] = field(default=(), init=False, repr=False)
    keys_: Hashes = field(default_factory=lambda: np.zeros(0, np.uint64), init=False, repr=False)
    owners_: npt.NDArray[np.int64] = field(
        default_factory=lambda: np.zeros(0, np.int64), init=False, repr=False
    )
    begins_: npt.NDArray[np.bool_] = field(
        default_factory=lambda: np.zeros(0, np.bool_), init=False, repr=False
    )
    whole_: npt.NDArray[np.bool_] = field(
        default_factory=lambda: np.zeros(0, np.bool_), init=False, repr=False
    )
    case_: npt.NDArray[np.bool_] = field(
        default_factory=lambda: np.zeros(0, np.bool_), init=False, repr=False
    )
    context_: npt.NDArray[np.bool_] = field(
        default_factory=lambda: np.zeros(0, np.bool_), init=False, repr=False
    )

    def fit(self, terms: Sequence[Term]) -> Self:
        """Compile ``terms``; of two terms with the same folded words the first one stands."""
        self.terms_ = tuple(terms)
        self.case_ = np.array([term.case for term in terms], dtype=np.bool_)
        self.context_ = np.array([term.context for term in terms], dtype=np.bool_)
        words, lengths = _words_of([term.text for term in terms])
        self.begins_ = np.zeros(1 << _FILTER_BITS, dtype=np.bool_)
        self.whole_ = np.zeros(1 << _FILTER_BITS, dtype=np.bool_)
        firsts = np.cumsum(lengths) - lengths
        keys = np.zeros(len(terms), dtype=np.uint64)
        for n_words in range(1, self.max_words + 1):
            reach = np.flatnonzero(lengths >= n_words)
            keys[reach] = keys[reach] * _MULTIPLIER + words[firsts[reach] + n_words - 1]
            self.begins_[_slot(keys[lengths > n_words])] = True
        usable = np.flatnonzero((lengths > 0) & (lengths <= self.max_words))
        self.whole_[_slot(keys[usable])] = True
        self.keys_, first_index = np.unique(keys[usable], return_index=True)
        self.owners_ = usable[first_index]
        return self

    def match(self, text: str) -> Hits:
        """Return the terms of ``text``, longest at each place, none overlapping another."""
        return match_all(text, (self,))[0]

    def gather(self, parts: Sequence[Hits]) -> Hits:
        """Join the hits of all chunks, without the terms that lack the context they need."""
        if not any(len(part.starts) for part in parts):
            return Hits(_NONE, _NONE, _NONE)
        starts = np.concatenate([_NONE, *(part.starts for part in parts)])
        ends = np.concatenate([_NONE, *(part.ends for part in parts)])
        owners = np.concatenate([_NONE, *(part.terms for part in parts)])
        keep = self._in_context(starts, owners)
        return Hits(starts[keep], ends[keep], owners[keep])

    def match_chunk(self, tokens: Tokens, text: str) -> Hits:
        """Return the terms of one chunk; ``text`` is the whole text that the tokens' positions mean."""
        found_at: list[Offsets] = []
        found_last: list[Offsets] = []
        found_owner: list[npt.NDArray[np.int64]] = []
        active = np.arange(len(tokens.hashes))
        keys = tokens.hashes
        for n_words in range(1, self.max_words + 1):
            slots = _slot(keys)
            maybe = self.whole_[slots].nonzero()[0]
            if len(maybe):
                wanted = keys[maybe]
                place = np.minimum(self.keys_.searchsorted(wanted), len(self.keys_) - 1)
                real = self.keys_[place] == wanted
                owner = self.owners_[place[real]]
                at = active[maybe[real]]
                sure = self._as_written(owner, tokens.starts[at], tokens.ends[at + n_words - 1], text)
                found_at.append(at[sure])
                found_last.append(at[sure] + n_words - 1)
                found_owner.append(owner[sure])
            # The last word of a chunk is joined to none, so that no index runs over the end.
            go_on = (self.begins_[slots] & tokens.joined[active + n_words - 1]).nonzero()[0]
            if not len(go_on):
                break
            active = active[go_on]
            keys = keys[go_on] * _MULTIPLIER + tokens.hashes[active + n_words]
        if not found_at:
            return Hits(_NONE, _NONE, _NONE)
        at, last, owner = np.concatenate(found_at), np.concatenate(found_last), np.concatenate(found_owner)
        keep = _longest(at, last)
        return Hits(tokens.starts[at[keep]], tokens.ends[last[keep]], owner[keep])

    def _as_written(
        self, owners: npt.NDArray[np.int64], starts: Offsets, ends: Offsets, text: str
    ) -> npt.NDArray[np.bool_]:
        sure = np.ones(len(owners), dtype=np.bool_)
        for index in self.case_[owners].nonzero()[0].tolist():
            sure[index] = text[starts[index] : ends[index]] == self.terms_[owners[index]].text
        return sure

    def _in_context(self, starts: Offsets, owners: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        needy = self.context_[owners]
        if not needy.any():
            return ~needy
        sure = starts[~needy]
        if not len(sure):
            return ~needy
        after = np.minimum(np.searchsorted(sure, starts), len(sure) - 1)
        near = np.minimum(np.abs(sure[after] - starts), np.abs(starts - sure[np.maximum(after - 1, 0)]))
        kept: npt.NDArray[np.bool_] = ~needy | (near <= CONTEXT_CHARS)
        return kept


def match_all(text: str, matchers: Sequence[TermMatcher]) -> tuple[Hits, ...]:
    """Match several lists over one reading of the text's words."""
    parts: list[list[Hits]] = [[] for _ in matchers]
    for offset, part in chunks(text):
        tokens = tokenize(part, offset)
        for matcher, found in zip(matchers, parts, strict=True):
            found.append(matcher.match_chunk(tokens, text))
    return tuple(matcher.gather(found) for matcher, found in zip(matchers, parts, strict=True))


def _slot(keys: Hashes) -> npt.NDArray[np.int64]:
    return (keys >> np.uint64(64 - _FILTER_BITS)).astype(np.int64)


def _words_of(texts: Sequence[str]) -> tuple[Hashes, npt.NDArray[np.int64]]:
    """Return the word hashes of all terms one after the other, and how many each has."""
    hashes: list[Hashes] = []
    lengths: list[npt.NDArray[np.int64]] = []
    batch: list[str] = []
    size = 0
    for text in [*texts, None]:
        if text is None or size + len(text) + 1 > CHUNK_CHARS:
            tokens = tokenize("\n".join(batch))
            limits = np.cumsum([len(item) + 1 for item in batch], dtype=np.int64)
            owner = np.searchsorted(limits, tokens.starts, side="right")
            lengths.append(np.bincount(owner, minlength=len(batch)))
            hashes.append(tokens.hashes)
            batch, size = [], 0
        if text is not None:
            batch.append(text)
            size += len(text) + 1
    return np.concatenate(hashes), np.concatenate(lengths)


def _longest(at: Offsets, last: Offsets) -> npt.NDArray[np.int64]:
    """Return the indices of the hits that stand, leftmost first, the longest at each place."""
    if len(at) == 1:
        return np.zeros(1, dtype=np.int64)
    order = np.lexsort((-last, at))
    at, last = at[order], last[order]
    reach = np.maximum.accumulate(last)
    clear = np.ones(len(at), dtype=np.bool_)
    clear[1:] = at[1:] > reach[:-1]
    if clear.all():
        return order
    # Only where terms overlap must they be weighed one by one; between two clear starts a lone term stands.
    alone = clear & np.append(clear[1:], True)
    kept = alone.copy()
    rest = np.flatnonzero(~alone)
    end = -1
    for index, first, final in zip(rest.tolist(), at[rest].tolist(), last[rest].tolist(), strict=True):
        if first > end:
            kept[index] = True
            end = final
    stand: npt.NDArray[np.int64] = order[kept]
    return stand
