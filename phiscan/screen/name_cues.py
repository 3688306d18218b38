"""Names behind a cue: a label of a form, the head of a column, a salutation, a closing, a word of kinship."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import re2

from phiscan.model import Document, Finding, PiiBit
from phiscan.screen.context import canonical, label_pattern, whole_word
from phiscan.screen.gazetteer import Gazetteer, Word
from phiscan.screen.name_tokens import (
    CREDENTIALS,
    FIRST_ONLY,
    FULL_NAME,
    LAST_ONLY,
    UPPER,
    WORD,
    is_term,
    name_finding,
)
from phiscan.screen.offsets import code_points
from phiscan.screen.tables import Tables

LABELS = ("label", "label_first", "label_last", "label_health")
_KINDS = (*LABELS, "kin", "salutation", "closing")
_STRONG_GAP = re.compile(
    r"(?:s\b)?[ \t]{0,4}(?:\([^()\n]{1,24}\)[ \t]{0,3})?(?:[:=>|\t]|[\"']\s{0,2}:|&gt;|\.{2,40})"
    r"[ \t\"'\[{(>*_|#]{0,12}(?:\r?\n[ \t]{0,8})?[\"'\[ ]{0,4}"
)
_LINE_GAP = re.compile(r"[ \t]{0,4}\r?\n[ \t]{0,8}")
_WIDE_GAP = re.compile(r"[ \t]{2,12}|[ \t]{0,3}[-–—][ \t]{1,3}")  # noqa: RUF001 (names are written with it)
_SPACE = re.compile(r"[ \u00a0]")
_SALUTATION_GAP = re.compile(r",?[ ]{1,2}")
_CLOSING_GAP = re.compile(
    r"[ \t]{0,3}[,.!:]?[ \t]{0,3}(?:\r?\n[ \t>]{0,8}){1,5}(?:[-–_*/s]{1,40}[ \t]{0,4}\n?)?"  # noqa: RUF001 (names are written with it)
)
_TITLE = re.compile(
    r"(?:(?:mr|mrs|ms|miss|mx|dr|dre|prof|mme|mlle|rev|hon|the|m)\b\.?[ ,]{0,2}){1,2}", re.IGNORECASE
)
_WORD = re.compile(WORD)
_JOIN = re.compile(r"\.? \"(?=\w)|\.?\" |\.? \((?=\w)|\.?\) |[ \u00a0]|\.[ ]?|, ?|\^")
_UPPER = re.compile(f"[{UPPER}]")
_DAY_OR_YEAR = re.compile(r"[.,]?[ ]{1,2}\d")
_STOP_WORDS = frozenset(
    "dob date birth mrn age sex gender phone tel address email id no number male female m.d md unknown"  # noqa: SIM905 (a list of words reads best as a text)
    " none nil"
    " na n/a null true false yes no not see as per same self other various pending test the and or with"
    " of in on"
    " is was has had et ou le la les un une au aux pour sur est patient name nom signature title titre type"
    " city state zip street ssn fax home work cell relationship relation reason room bed unit ward hospital"
    " clinic department dept facility date/time time from to re cc subject sent of".split()
)
# After these even an unknown word is a name.
_INTRODUCTIONS = frozenset(
    "mynameis nameis named jemappelle monnomest sappelle nomme nommee appelee lastnameis firstnameis".split()  # noqa: SIM905 (a list of words reads best as a text)
)
_MAX_WORDS = 5
_LIST_MARKS = " \t>*-•\"'#|"
_TITLE_HEALTH_WORDS = ("dr", "dre", "prof", "docteur", "doctor")


class CueRecognizer:
    """Find names by what stands before them; a label makes even unknown words a name."""

    def __init__(self, gazetteer: Gazetteer) -> None:
        self._gazetteer = gazetteer
        self._kinds: dict[str, str] = {}
        for kind in _KINDS:
            for phrase in gazetteer.cues.get(kind, ()):
                self._kinds.setdefault(canonical(phrase), kind)
        phrases = {phrase for kind in _KINDS for phrase in gazetteer.cues.get(kind, ())}
        ordered = sorted(phrases, key=lambda p: (-len(p), p))
        options = re2.Options()
        options.max_mem = 64 << 20
        options.never_capture = True
        titles = r"\b(?:mr|mrs|ms|dr|dre|mme|mlle|prof)\b\.? [a-z]"
        pattern = f"(?i:{'|'.join(label_pattern(p) for p in ordered)})|{titles}"
        self._scanner = re2.compile(pattern.encode(), options)

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings in the order of their cues; spans are half-open, in code points."""
        text = document.text
        raw = text.encode("utf-8", "surrogatepass")
        spans = [match.span() for match in self._scanner.finditer(raw)]
        if not spans:
            return
        places = np.asarray(spans, dtype=np.int64)
        if len(raw) != len(text):
            places = code_points(raw, places)
        tables = Tables(text)
        for start, end in places.tolist():
            if not whole_word(text, start, end):
                continue
            key = canonical(text[start:end])
            kind = self._kinds.get(key)
            if kind is None:
                yield from self._lower_title(text, start, end)
            elif kind in LABELS:
                yield from self._labelled(text, tables, start, end, kind)
            elif kind == "kin":
                yield from self._kin(text, end, sure=key in _INTRODUCTIONS)
            elif kind == "salutation":
                yield from self._salutation(text, start, end)
            else:
                yield from self._closing(text, start, end)

    def _labelled(self, text: str, tables: Tables, start: int, end: int, kind: str) -> Iterator[Finding]:
        cells = tables.column(start, end)
        if cells is not None:
            for low, high in cells:
                found = self._value(text, low, high, kind, "header", 0.85)
                if found is not None:
                    yield found
            return
        gap = _STRONG_GAP.match(text, end)
        if gap is None and _alone_on_line(text, start):
            gap = _LINE_GAP.match(text, end) or _WIDE_GAP.match(text, end)
        if gap is not None:
            found = self._value(text, gap.end(), min(len(text), gap.end() + 120), kind, "label", 0.9)
        else:
            found = self._weak(text, end, kind)
        if found is not None:
            yield found

    def _value(  # noqa: PLR0917 (a place and what stands there)
        self, text: str, start: int, limit: int, kind: str, reason: str, score: float
    ) -> Finding | None:
        """Read the name that stands as the value of a label, in whatever case."""
        title = _TITLE.match(text, start, limit)
        if title is not None:
            start = title.end()
        words = self._words(text, start, limit)
        if not words:
            return None
        flags = [self._gazetteer.of(text[a:b]) for a, b in words]
        named = [bool(f & (Word.FIRST | Word.LAST)) for f in flags]
        plain = [not f & Word.ORDINARY for f in flags]
        capitals = [bool(_UPPER.match(text, a)) for a, _ in words]
        long = [b - a > 1 for a, b in words]
        believed = any(p and n and w for p, n, w in zip(plain, long, capitals, strict=True)) or any(
            p and n for p, n in zip(plain, named, strict=True)
        )
        if not believed and not (all(n or not w for n, w in zip(named, long, strict=True)) and any(capitals)):
            return None
        if any(f & Word.NOT_PERSON and not n for f, n in zip(flags, named, strict=True)):
            return None
        full = len([w for w in long if w]) > 1
        bits = _bits(kind, full=full, first=bool(flags[0] & Word.FIRST) and not flags[0] & Word.LAST)
        titled = title is not None and title[0].lower().startswith(_TITLE_HEALTH_WORDS)
        after = CREDENTIALS.match(text, words[-1][1]) is not None
        if is_term(text, words[-1][1], self._gazetteer):
            return None
        return name_finding(
            words[0][0],
            words[-1][1],
            health=kind == "label_health" or titled or after,
            bits=bits,
            source=f"names.{reason}",
            score=score,
            reason=(reason, kind),
        )

    def _words(self, text: str, start: int, limit: int) -> list[tuple[int, int]]:  # noqa: C901, PLR0912 (one decision after the other reads best in one place)
        """Return the words of the name that begins at ``start``, up to other punctuation or a label."""
        words: list[tuple[int, int]] = []
        position, commas, lower = start, 0, None
        while len(words) < _MAX_WORDS:
            match = _WORD.match(text, position, limit)
            if match is None:
                break
            word = match[0]
            flags = self._gazetteer.of(word)
            is_lower = word[0].islower()
            particle = bool(flags & Word.PARTICLE)
            if word.lower() in _STOP_WORDS and not (particle and words and is_lower):
                break
            if flags & Word.CREDENTIAL and words and word.isupper() and len(word) > 1:
                break
            if flags & Word.MONTH_OR_DAY and words and _DAY_OR_YEAR.match(text, match.end()):
                break  # "Ann Roy, March 2024": a date behind the name
            if lower is None:
                lower = is_lower
            elif is_lower != lower and is_lower and not particle:
                break
            if is_lower and flags & Word.ORDINARY and not flags & (Word.FIRST | Word.LAST) and not particle:
                break
            words.append(match.span())
            join = _JOIN.match(text, match.end(), limit)
            if join is None:
                break
            if "," in join[0]:
                commas += 1
                if commas > 1 or len(words) > 3:  # noqa: PLR2004 (Last Last Last, First)
                    break
            if "." in join[0] and len(word) > 1 and not particle and word.lower() not in {"jr", "sr"}:
                break
            position = join.end()
        while words and self._gazetteer.of(text[slice(*words[-1])]) & Word.PARTICLE and len(words) > 1:
            if not text[words[-1][0]].islower():
                break
            words.pop()
        return words

    def _weak(self, text: str, end: int, kind: str) -> Finding | None:
        """Read "Patient John Smith" or "seen by Dr. X": no punctuation, so the lists must agree."""
        gap = _SPACE.match(text, end)
        if gap is None or not _UPPER.match(text, gap.end()):
            return None
        words = self._words(text, gap.end(), min(len(text), gap.end() + 80))
        words = [
            w for w in words if text[w[0]].isupper() or self._gazetteer.of(text[slice(*w)]) & Word.PARTICLE
        ]
        if len(words) < 2 or "," in text[words[0][0] : words[-1][1]]:  # noqa: PLR2004 (first and last)
            return None
        flags = [self._gazetteer.of(text[a:b]) for a, b in words]
        if not flags[0] & Word.FIRST or any(f & Word.ORDINARY for f in flags):
            return None
        return name_finding(
            words[0][0], words[-1][1], health=kind == "label_health", bits=FULL_NAME,
            source="names.cue", score=0.8, reason=("label", kind),
        )  # fmt: skip

    def _kin(self, text: str, end: int, *, sure: bool) -> Iterator[Finding]:
        """Read "his wife Mary", "my name is Ann Roy": a first name that is no ordinary word, or both."""
        gap = _SALUTATION_GAP.match(text, end)
        if gap is None or not _UPPER.match(text, gap.end()):
            return
        words = self._words(text, gap.end(), min(len(text), gap.end() + 60))
        words = [w for w in words if text[w[0]].isupper()]
        if not words or "," in text[words[0][0] : words[-1][1]]:
            words = words[:1]
        flags = [self._gazetteer.of(text[a:b]) for a, b in words]
        while flags and flags[-1] & Word.ORDINARY:
            flags.pop()
            words.pop()
        if not words or flags[0] & (Word.ORDINARY | Word.NOT_PERSON) or not (sure or flags[0] & Word.FIRST):
            return
        if any(f & (Word.NOT_PERSON | Word.EPONYM | Word.MONTH_OR_DAY) for f in flags):
            return
        if is_term(text, words[-1][1], self._gazetteer):
            return
        yield name_finding(
            words[0][0], words[-1][1], health=CREDENTIALS.match(text, words[-1][1]) is not None,
            bits=FULL_NAME if len(words) > 1 else FIRST_ONLY, source="names.cue", score=0.7,
            reason=("label", "kin"),
        )  # fmt: skip

    def _salutation(self, text: str, start: int, end: int) -> Iterator[Finding]:
        """Read "Dear Mary," at the start of a line or sentence."""
        before = text[max(0, start - 2) : start].strip(" >\t\"'*")
        if before and before[-1] not in "\n.!?:,":
            return
        gap = _SALUTATION_GAP.match(text, end)
        if gap is None or not _UPPER.match(text, gap.end()):
            return
        words = self._words(text, gap.end(), min(len(text), gap.end() + 60))[:3]
        words = [w for w in words if text[w[0]].isupper()]
        if not words:
            return
        stop = words[-1][1]
        flags = [self._gazetteer.of(text[a:b]) for a, b in words]
        known = flags[0] & Word.FIRST and not flags[0] & Word.ORDINARY
        closed = text[stop : stop + 1] in {",", ":", "!", "\n", ""} or text[stop : stop + 2] in {
            " -",
            " ,",
            " :",
        }
        if (
            any(f & Word.ORDINARY for f in flags)
            or not (closed or known)
            or not all(f is not None for f in flags)
        ):
            return
        yield name_finding(
            words[0][0], stop, health=False, bits=FULL_NAME if len(words) > 1 else FIRST_ONLY,
            source="names.salutation", score=0.75, reason=("label", "salutation"),
        )  # fmt: skip

    def _closing(self, text: str, start: int, end: int) -> Iterator[Finding]:
        """Read the signature below "Sincerely," when its line holds nothing else than a name."""
        gap = _CLOSING_GAP.match(text, end) if _alone_on_line(text, start) else None
        if gap is None:
            return
        stop = text.find("\n", gap.end())
        stop = len(text) if stop < 0 else stop
        if stop - gap.end() > 80:  # noqa: PLR2004 (no signature is longer)
            return
        found = self._value(text, gap.end(), stop, "label", "signature", 0.8)
        rest = text[found.span.end : stop] if found else ""
        if found is not None and (not rest.strip(" .\r\t") or CREDENTIALS.match(rest) or rest[:1] == ","):
            yield found

    def _lower_title(self, text: str, start: int, end: int) -> Iterator[Finding]:
        """Read "dr. smith" in lower case."""
        match = _WORD.match(text, end - 1)
        if match is None or text[start].isupper():
            return
        words = [match.span()]
        if self._gazetteer.of(match[0]) & Word.ORDINARY and not self._gazetteer.of(match[0]) & Word.LAST:
            return
        following = _WORD.match(text, match.end() + 1) if text[match.end() : match.end() + 1] == " " else None
        if following and self._gazetteer.of(following[0]) & (Word.LAST | Word.ORDINARY) == Word.LAST:
            words.append(following.span())
        health = text[start:end].startswith(("dr", "prof"))
        yield name_finding(
            words[0][0], words[-1][1], health=health, bits=FULL_NAME if len(words) > 1 else LAST_ONLY,
            source="names.title", score=0.8, reason=("title", "title"),
        )  # fmt: skip


def _bits(kind: str, *, full: bool, first: bool) -> frozenset[PiiBit]:
    if kind == "label_first":
        return FIRST_ONLY
    if kind == "label_last":
        return LAST_ONLY
    if full:
        return FULL_NAME
    return FIRST_ONLY if first else LAST_ONLY


def _alone_on_line(text: str, start: int) -> bool:
    """Tell whether a cue begins its line (a list mark or quotation mark may stand before it)."""
    # Backwards mark by mark: looking for the line's start would read a long line again for each cue in it.
    while start and text[start - 1] in _LIST_MARKS:
        start -= 1
    return start == 0 or text[start - 1] == "\n"
