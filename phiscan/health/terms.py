"""Find every health term of a text in one pass: whole words, longest first, inflection folded.

A term is a sequence of folded words; its key is the hash of the hashes of its words. At each length the
words that cannot begin a term any more are dropped, so that nearly all words are looked at once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from phiscan.lexicon.gazetteer import Word, load_gazetteer
from phiscan.text.word_tokens import CHUNK_CHARS, Chunk, Hashes, Offsets, Tokens, tokenize, tokenized

MAX_WORDS: Final = 6  # longer terms are cut by the build scripts
CONTEXT_CHARS: Final = 150  # how near a sure term must be to a term that needs context
_MULTIPLIER: Final = np.uint64(0xD6E8FEB86659FD93)
_FILTER_BITS: Final = 18
_ORDER: Final = CHUNK_CHARS * 2  # more than a chunk has words: first by the first word, then the longest
# A code of ICD-10-CM in small letters, by its dot: "f33.1"; "v10.2" is mostly a version of something.
_SMALL_CODE: Final = re.compile(r"[a-uw-z]\d\d\.\d")
_LINE_CHARS: Final = 80  # on each side of a term
_WORD: Final = re.compile(r"[^\W\d_]{3}")
_WHOLE: Final = np.uint8(1)
_BEGINS: Final = np.uint8(2)
_AROUND: Final = 40  # characters on each side
_BEFORE: Final = re.compile(r"([^\W\d_][\w'-]*)(\.?)[ \t]{1,3}\Z")
_LABEL: Final = re.compile(r"\b(?:name|surname|nom|patient|patiente)[ \t]{0,3}:[ \t]{0,3}\Z", re.IGNORECASE)
_AFTER: Final = re.compile(r"(?:['\N{RIGHT SINGLE QUOTATION MARK}]s)?,[ \t]{0,3}([^\W\d_][\w'-]*)")


@dataclass(frozen=True, slots=True)
class Term:
    """One form of a concept, and what it needs to count."""

    text: str
    concept: str
    case: bool = False  # counts only as written here (AIDS, not aids)
    context: bool = False  # counts only near a term that needs none (cold, mole, discharge)
    word: bool = False  # a word as well: counts for nothing in a line wholly in capitals (PAR, SI)
    small: bool = False  # counts in small letters, too, where the whole line is in small letters (copd)
    spaced: bool = False  # single letters: counts only with the same signs between them (c/o, n/v)
    surname: bool = False  # does not count where it is written as a person's name (Mr. Crohn)

    @property
    def is_checked(self) -> bool:
        """Return whether it depends on how it is written that it counts."""
        return self.case or self.surname or self.spaced


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
    """Match a list of terms. Constructor only stores; ``fit`` compiles; what it learns ends in ``_``."""

    max_words: int = MAX_WORDS
    terms_: tuple[Term, ...] = field(default=(), init=False, repr=False)
    keys_: Hashes = field(default_factory=lambda: np.zeros(0, np.uint64), init=False, repr=False)
    owners_: npt.NDArray[np.int64] = field(
        default_factory=lambda: np.zeros(0, np.int64), init=False, repr=False
    )
    flags_: npt.NDArray[np.uint8] = field(
        default_factory=lambda: np.zeros(0, np.uint8), init=False, repr=False
    )  # by the first bits of a key: whether it may be a term, and whether it may begin one
    checked_: npt.NDArray[np.bool_] = field(  # whether it counts depends on how it is written
        default_factory=lambda: np.zeros(0, np.bool_), init=False, repr=False
    )
    lookalikes_: frozenset[str] = field(default=frozenset(), init=False, repr=False)
    context_: npt.NDArray[np.bool_] = field(
        default_factory=lambda: np.zeros(0, np.bool_), init=False, repr=False
    )

    def fit(self, terms: Sequence[Term], lookalikes: Sequence[str] = ()) -> Self:
        """Compile ``terms``; of two terms with the same folded words the first one is used.

        ``lookalikes``: words that are no term, although their folded form is that of one (car: carie).
        """
        self.terms_ = tuple(terms)
        self.lookalikes_ = frozenset(lookalikes)
        self.checked_ = np.array([term.is_checked for term in terms], dtype=np.bool_)
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
        if lookalikes:
            self.checked_[self.owners_[np.isin(self.keys_, _words_of(lookalikes)[0])]] = True
        return self

    def resolve(self, tokens: Tokens, found: Found, text: str) -> Hits:
        """Return the candidates of one chunk that count, the longest at each position of ``text``."""
        at, last, owner = found
        if self.checked_[owner].any():
            sure = self._as_written(owner, tokens.starts[at], tokens.ends[last], text)
            at, last, owner = at[sure], last[sure], owner[sure]
        if not len(at):
            return _NO_HITS
        keep = _longest(at, last)
        return Hits(tokens.starts[at[keep]], tokens.ends[last[keep]], owner[keep])

    def gather(self, parts: Sequence[Hits]) -> Hits:
        """Join the hits of all chunks, without context terms that have no other term near them."""
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
        for index in self.checked_[owners].nonzero()[0].tolist():
            term, start, end = self.terms_[owners[index]], int(starts[index]), int(ends[index])
            written = text[start:end]
            if written.lower() in self.lookalikes_:
                sure[index] = False
            elif term.surname:
                sure[index] = not is_surname(text, start, end)
            elif term.spaced:
                sure[index] = written in (term.text, term.text.lower(), term.text.upper())
            elif not term.case:
                sure[index] = True
            elif written == term.text:
                sure[index] = not (term.word and _around(text, start, end).isupper())
            elif term.small and written.islower():
                sure[index] = written.upper() == term.text.upper() and _around(text, start, end).islower()
            else:
                sure[index] = _SMALL_CODE.match(text, start) is not None and written.upper() == term.text
        return sure


def _around(text: str, start: int, end: int) -> str:
    """Return what is in the line to both sides of a term; nothing if no word is there."""
    low, high = max(0, start - _LINE_CHARS), end + _LINE_CHARS
    low = max(low, text.rfind("\n", low, start) + 1)
    stop = text.find("\n", end, high)
    around = text[low:start] + text[end : high if stop < 0 else stop]
    return around if _WORD.search(around) else ""


@dataclass(frozen=True, slots=True)
class JointMatcher:
    """Several lists matched over one reading of a text; each list's terms overlap none of their own list."""

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

    def match(self, text: str, words: Sequence[Chunk] | None = None) -> tuple[Hits, ...]:
        """Return each list's terms of ``text``: the longest at each place, none overlapping another.

        ``words``: those of the text; None finds them here.
        """
        parts: list[list[Hits]] = [[] for _ in self.matchers]
        for chunk in tokenized(text) if words is None else words:
            tokens = chunk.tokens
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
                position = np.minimum(self.keys.searchsorted(wanted), len(self.keys) - 1)
                real = (self.keys[position] == wanted).nonzero()[0]
                if len(real):
                    at = active[maybe[real]]
                    found.append((at, at + (n_words - 1), position[real]))
            # The last word of a chunk is joined to none, so that no index runs over the end.
            may_continue = ((flags >= _BEGINS) & tokens.joined[active + (n_words - 1)]).nonzero()[0]
            if not len(may_continue):
                break
            active = active[may_continue]
            keys = keys[may_continue] * _MULTIPLIER + tokens.hashes[active + n_words]
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
    kept: npt.NDArray[np.bool_] = ~needs_context | (near <= CONTEXT_CHARS)
    return kept


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
    """Return the indices of the hits without overlap, leftmost first, the longest at each position."""
    if len(at) == 1:
        return np.zeros(1, dtype=np.int64)
    order = (at * _ORDER - last).argsort()
    at, last = at[order], last[order]
    latest_end = np.maximum.accumulate(last)
    clear = np.ones(len(at), dtype=np.bool_)
    clear[1:] = at[1:] > latest_end[:-1]
    if clear.all():
        return order
    # Only overlapping terms are compared one by one; a single term between two clear starts is kept.
    alone = clear & np.append(clear[1:], True)
    kept = alone.copy()
    rest = np.flatnonzero(~alone)
    end = -1
    for index, first, final in zip(rest.tolist(), at[rest].tolist(), last[rest].tolist(), strict=True):
        if first > end:
            kept[index] = True
            end = final
    without_overlap: npt.NDArray[np.int64] = order[kept]
    return without_overlap


def is_surname(text: str, start: int, end: int) -> bool:
    """Tell whether a capitalized term is part of a name: a title, a given name or an initial is next to it.

    >>> [is_surname(text, 4, 9) for text in ("Mr. Crohn called", "Has Crohn's disease", "No, Crohn, Anna")]
    [True, False, True]
    """
    if not text[start].isupper():
        return False
    before, after = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
    if _LABEL.search(before):
        return True
    if (found := _BEFORE.search(before)) and _is_of_a_name(found[1], is_shortened=bool(found[2])):
        return True
    follows = _AFTER.match(after)
    return follows is not None and _is_given_name(follows[1])


def _is_of_a_name(word: str, *, is_shortened: bool) -> bool:
    """Tell a title (Mr, Dr), an initial (P.) or a given name."""
    if word[0].isupper() and len(word) == 1:
        return is_shortened
    return bool(load_gazetteer().of(word) & (Word.TITLE | Word.TITLE_HEALTH)) or _is_given_name(word)


def _is_given_name(word: str) -> bool:
    flags = load_gazetteer().of(word)
    return word[0].isupper() and bool(flags & Word.FIRST) and not flags & Word.ORDINARY
