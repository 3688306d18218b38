"""Find every health term of a text in one pass: whole words, longest match first, inflection folded.

A term is a sequence of folded words; its key is the hash of the hashes of its words. At each length the
words that cannot begin a longer term are dropped, so that most words are tested once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from phiscan.text.word_tokens import CHUNK_CHARS, Hashes, Offsets, Tokens, chunks, tokenize

MAX_WORDS: Final = 6  # longer terms are dropped by the build scripts
CONTEXT_CHARS: Final = 150  # largest distance from a term that needs context to one that does not
_MULTIPLIER: Final = np.uint64(0xD6E8FEB86659FD93)
_FILTER_BITS: Final = 18
_ORDER: Final = CHUNK_CHARS * 2  # above the words of a chunk: sort by first word, then longest first
# An ICD-10-CM code in lower case, by its dot: "f33.1"; "v10.2" is usually a version number.
_SMALL_CODE: Final = re.compile(r"[a-uw-z]\d\d\.\d")
_LINE_CHARS: Final = 80  # on each side of a term
_WORD: Final = re.compile(r"[^\W\d_]{3}")
_WHOLE: Final = np.uint8(1)
_BEGINS: Final = np.uint8(2)


@dataclass(frozen=True, slots=True)
class Term:
    """One form of a concept, and the conditions under which it is matched."""

    text: str
    concept: str
    case: bool = False  # case-sensitive (AIDS, not aids)
    context: bool = False  # only near a term without this flag (cold, mole, discharge)
    word: bool = False  # also an ordinary word: ignored in a line in capitals (PAR, SI)
    small: bool = False  # also matched in lower case where the whole line is in lower case (copd)


@dataclass(frozen=True, slots=True)
class Hits:
    """The terms found in a text, in text order; parallel arrays of one element per hit."""

    starts: Offsets
    ends: Offsets
    terms: npt.NDArray[np.int64]  # indices into TermMatcher.terms_


Found = tuple[Offsets, Offsets, npt.NDArray[np.int64]]  # first word, last word, index of the term or key
_NO_HITS: Final = Hits(*(np.zeros(0, dtype=np.int64) for _ in range(3)))


@dataclass(slots=True)
class TermMatcher:
    """Match a list of terms; ``fit`` compiles them, and compiled attributes end in ``_``."""

    max_words: int = MAX_WORDS
    terms_: tuple[Term, ...] = field(default=(), init=False, repr=False)
    keys_: Hashes = field(default_factory=lambda: np.zeros(0, np.uint64), init=False, repr=False)
    owners_: npt.NDArray[np.int64] = field(
        default_factory=lambda: np.zeros(0, np.int64), init=False, repr=False
    )
    flags_: npt.NDArray[np.uint8] = field(
        default_factory=lambda: np.zeros(0, np.uint8), init=False, repr=False
    )  # filter by the first bits of a key: may be a term, may begin a term
    case_: npt.NDArray[np.bool_] = field(
        default_factory=lambda: np.zeros(0, np.bool_), init=False, repr=False
    )
    context_: npt.NDArray[np.bool_] = field(
        default_factory=lambda: np.zeros(0, np.bool_), init=False, repr=False
    )

    def fit(self, terms: Sequence[Term]) -> Self:
        """Compile ``terms``; of two terms with the same folded words the first one counts."""
        self.terms_ = tuple(terms)
        self.case_ = np.array([term.case for term in terms], dtype=np.bool_)
        self.context_ = np.array([term.context for term in terms], dtype=np.bool_)
        words, lengths = _words_of([term.text for term in terms])
        self.flags_ = np.zeros(1 << _FILTER_BITS, dtype=np.uint8)
        firsts = np.cumsum(lengths) - lengths
        keys = np.zeros(len(terms), dtype=np.uint64)
        for n_words in range(1, self.max_words + 1):
            long_enough = np.flatnonzero(lengths >= n_words)
            keys[long_enough] = keys[long_enough] * _MULTIPLIER + words[firsts[long_enough] + n_words - 1]
            self.flags_[_slot(keys[lengths > n_words])] |= _BEGINS
        usable = np.flatnonzero((lengths > 0) & (lengths <= self.max_words))
        self.flags_[_slot(keys[usable])] |= _WHOLE
        self.keys_, first_index = np.unique(keys[usable], return_index=True)
        self.owners_ = usable[first_index]
        return self

    def resolve(self, tokens: Tokens, found: Found, text: str) -> Hits:
        """Return the accepted candidates of one chunk: case checked, longest match; ``text`` is whole."""
        at, last, owner = found
        if self.case_[owner].any():
            sure = self._as_written(owner, tokens.starts[at], tokens.ends[last], text)
            at, last, owner = at[sure], last[sure], owner[sure]
        if not len(at):
            return _NO_HITS
        keep = _longest(at, last)
        return Hits(tokens.starts[at[keep]], tokens.ends[last[keep]], owner[keep])

    def gather(self, parts: Sequence[Hits]) -> Hits:
        """Return the hits of all chunks, without the terms that lack their required context."""
        filled = [part for part in parts if len(part.starts)]
        if not filled:
            return _NO_HITS
        hits = filled[0]
        if len(filled) > 1:
            hits = Hits(
                np.concatenate([part.starts for part in filled]),
                np.concatenate([part.ends for part in filled]),
                np.concatenate([part.terms for part in filled]),
            )
        needs_context = self.context_[hits.terms]
        if not needs_context.any():
            return hits
        keep = _in_context(hits.starts, needs_context)
        return Hits(hits.starts[keep], hits.ends[keep], hits.terms[keep])

    def _as_written(
        self, owners: npt.NDArray[np.int64], starts: Offsets, ends: Offsets, text: str
    ) -> npt.NDArray[np.bool_]:
        sure = np.ones(len(owners), dtype=np.bool_)
        for index in self.case_[owners].nonzero()[0].tolist():
            term, start, end = self.terms_[owners[index]], int(starts[index]), int(ends[index])
            written = text[start:end]
            if written == term.text:
                sure[index] = not (term.word and _around(text, start, end).isupper())
            elif term.small and written.islower():
                sure[index] = written.upper() == term.text.upper() and _around(text, start, end).islower()
            else:
                sure[index] = _SMALL_CODE.match(text, start) is not None and written.upper() == term.text
        return sure


def _around(text: str, start: int, end: int) -> str:
    """Return the rest of the line on both sides of a term; "" if it holds no word."""
    low, high = max(0, start - _LINE_CHARS), end + _LINE_CHARS
    low = max(low, text.rfind("\n", low, start) + 1)
    stop = text.find("\n", end, high)
    around = text[low:start] + text[end : high if stop < 0 else stop]
    return around if _WORD.search(around) else ""


@dataclass(frozen=True, slots=True)
class JointMatcher:
    """Match several lists in one pass over a text; hits of the same list do not overlap."""

    matchers: tuple[TermMatcher, ...]
    keys: Hashes = field(repr=False)  # of all lists, sorted
    owners: tuple[npt.NDArray[np.int64], ...] = field(repr=False)  # of each key, by list; -1 = not of it
    flags: npt.NDArray[np.uint8] = field(repr=False)
    max_words: int

    @classmethod
    def of(cls, matchers: Sequence[TermMatcher]) -> Self:
        """Join fitted lists."""
        keys = np.unique(np.concatenate([matcher.keys_ for matcher in matchers]))
        owners = []
        for matcher in matchers:
            owner = np.full(len(keys), -1, dtype=np.int64)
            owner[keys.searchsorted(matcher.keys_)] = matcher.owners_
            owners.append(owner)
        flags = np.bitwise_or.reduce([matcher.flags_ for matcher in matchers])
        return cls(tuple(matchers), keys, tuple(owners), flags, max(each.max_words for each in matchers))

    def match(self, text: str) -> tuple[Hits, ...]:
        """Return each list's hits in ``text``: the longest at each offset, without overlaps."""
        parts: list[list[Hits]] = [[] for _ in self.matchers]
        for offset, part in chunks(text):
            tokens = tokenize(part, offset)
            found = self._candidates(tokens)
            if found is None:
                continue
            at, last, key = found
            for matcher, owners, hits in zip(self.matchers, self.owners, parts, strict=True):
                owner = owners[key]
                own = (owner >= 0).nonzero()[0]
                if len(own):
                    hits.append(matcher.resolve(tokens, (at[own], last[own], owner[own]), text))
        return tuple(matcher.gather(hits) for matcher, hits in zip(self.matchers, parts, strict=True))

    def _candidates(self, tokens: Tokens) -> Found | None:
        """Return every match of a key of any list: first word, last word, index of the key."""
        if not len(self.keys):
            return None
        found: list[Found] = []
        active: Offsets = np.arange(len(tokens.hashes))
        keys = tokens.hashes
        for n_words in range(1, self.max_words + 1):
            flags = self.flags[_slot(keys)]
            maybe = (flags & _WHOLE).nonzero()[0]
            if len(maybe):
                wanted = keys[maybe]
                index = np.minimum(self.keys.searchsorted(wanted), len(self.keys) - 1)
                real = (self.keys[index] == wanted).nonzero()[0]
                if len(real):
                    at = active[maybe[real]]
                    found.append((at, at + (n_words - 1), index[real]))
            # The last word of a chunk has no successor, so no index runs past the end.
            go_on = ((flags >= _BEGINS) & tokens.joined[active + (n_words - 1)]).nonzero()[0]
            if not len(go_on):
                break
            active = active[go_on]
            keys = keys[go_on] * _MULTIPLIER + tokens.hashes[active + n_words]
        if len(found) <= 1:
            return found[0] if found else None
        first, last, key = (np.concatenate(column) for column in zip(*found, strict=True))
        return first, last, key


def _slot(keys: Hashes) -> npt.NDArray[np.int64]:
    return (keys >> np.uint64(64 - _FILTER_BITS)).view(np.int64)


def _in_context(starts: Offsets, needs_context: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return which hits need no other term near them, or have one."""
    sure = starts[~needs_context]
    if not len(sure):
        return ~needs_context
    after = np.minimum(sure.searchsorted(starts), len(sure) - 1)
    near = np.minimum(np.abs(sure[after] - starts), np.abs(starts - sure[np.maximum(after - 1, 0)]))
    accepted: npt.NDArray[np.bool_] = ~needs_context | (near <= CONTEXT_CHARS)
    return accepted


def _words_of(texts: Sequence[str]) -> tuple[Hashes, npt.NDArray[np.int64]]:
    """Return the concatenated word hashes of all terms, and the number of words of each."""
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
    """Return the indices of the non-overlapping hits: leftmost first, the longest at each offset."""
    if len(at) == 1:
        return np.zeros(1, dtype=np.int64)
    order = (at * _ORDER - last).argsort()
    at, last = at[order], last[order]
    max_end = np.maximum.accumulate(last)
    clear = np.ones(len(at), dtype=np.bool_)
    clear[1:] = at[1:] > max_end[:-1]
    if clear.all():
        return order
    # Only overlapping hits are compared one by one; a hit between two non-overlapping starts is accepted.
    alone = clear & np.append(clear[1:], True)
    accepted = alone.copy()
    rest = np.flatnonzero(~alone)
    end = -1
    for index, first, final in zip(rest.tolist(), at[rest].tolist(), last[rest].tolist(), strict=True):
        if first > end:
            accepted[index] = True
            end = final
    selected: npt.NDArray[np.int64] = order[accepted]
    return selected
