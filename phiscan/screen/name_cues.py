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
_HEADS = {"head": "label", "head_health": "label_health"}  # what counts as the head of a column only
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
_LOWER_TITLE = re.compile(r"(?:mr|mrs|ms|dr|dre|mme|mlle|prof)\.? {1,2}[a-z]")
_TITLE = re.compile(
    r"(?:(?:mr|mrs|ms|miss|mx|dr|dre|prof|mme|mlle|rev|hon|the|m)\b\.?[ ,]{0,2}){1,2}", re.IGNORECASE
)
_WORD = re.compile(WORD)
# What a value begins with that is no part of the name: the cross before a signature, a word of kinship.
_LEADING = re.compile(
    r"(?:[xX][ ]{1,3}|(?:wife|husband|spouse|son|daughter|mother|father|mom|mum|dad|brother|sister"
    r"|partner|friend"
    r"|aunt|uncle|niece|nephew|fille|fils|épouse|époux|conjointe?|mari|frère|s(?:oe|œ)ur|mère|père"
    r"|voisine?|amie?)"
    r"[ ]{1,2}(?=[^\W\d_a-zà-ÿ]))",
)
_REMARK = re.compile(r"[ ]\([^\W\d_]*$")  # a bracket that opens within a name and closes behind it
_TELEPHONE = re.compile(r"[ ]{1,3}(?:cell|home|work)\b", re.IGNORECASE)
_LABEL_AGAIN = re.compile(r"[ \t]{0,4}[:=](?!=)")
# A name of a test, a drug or a place in a file of fields: <analyse nom="...">, "facility": {"name": ...
_OF_A_THING = re.compile(
    r"(?:<(?:analyses?|tests?|labs?|obs(?:ervation)?|items?|products?|produit|drugs?|med(?:ication"
    r"|icament)?s?|codes?"
    r"|panels?|results?|resultats?|etab\w*|facility|org\w*|clini\w+|hosp\w+|hopital|dep\w*|fields?"
    r"|param\w*|files?"
    r"|printers?|devices?|pharm\w*|services?|examens?|unite?s?|payers?|payeur|employ(?:er|eur)"
    r"|specimens?)\b[^<>]{0,120}"
    r"|\"(?:tests?|analytes?|labs?|products?|drugs?|medications?|codes?|panels?|facility|organi[sz]ation"
    r"|clinic|hospital"
    r"|department|pharmacy|service|payer|insurer|employer|field|file|printer|device"
    r"|specimen)\"\s{0,3}:\s{0,3}[\[{][^{}]{0,120})$",
    re.IGNORECASE,
)
_BARE_PARTS = frozenset({"first", "last", "given", "family", "middle"})
_OTHER_PART = re.compile(r"\b(?:first|last|given|family|surname|dob|birth)", re.IGNORECASE)
_NEAR_KEYS = 80
# Kin before a name with a colon, a bracket or nothing, in any case.
_RELATIONS = frozenset(
    "wife husband spouse son daughter mother father mom mum dad brother sister partner fiance"  # noqa: SIM905 (a list of words)
    " fiancee girlfriend boyfriend fille fils epouse epoux mari conjoint conjointe frere soeur mere pere"
    " grandmother grandfather grandson granddaughter nephew niece aunt uncle cousin caregiver stepfather"
    " stepmother stepson stepdaughter tante oncle roommate grandma grandpa neighbour neighbor friend".split()
)
_KIN_GAP = re.compile(r",?[ ]{1,2}|[ ]?\((?=\w)|[ ]?[:=][ ]{0,3}")
_BEHIND_KIN = re.compile(
    r"[ ](?:is|was|at|au|cell|tel|ph|est|aged|\(?\+?\d)|[ ]?[,;)/](?!\w)"
    r"|['’]s[ ]|[.]?(?:\s{0,2}\n|\s*\Z)"  # noqa: RUF001 (names are written with it)
)
_NUMBER_NEXT = re.compile(r"[ ,(]{1,4}\+?\d{3}")
_VERBS_TOO = frozenset(
    "will may can grant mark chase drew rob sue bill pat wade skip guy van man said hope trust an in so art"  # noqa: SIM905 (a list of words reads best as a text)
    " stays sees frank young old long more early".split()
)
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
    " clinic department dept facility date/time time from to re cc subject sent of phn nam ddn hcn phin mhsc"
    " ohip ramq cell tel ext poste unknown inconnu aucun aucune none".split()
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
        self._relations = {canonical(phrase) for phrase in gazetteer.cues.get("kin", ())} & _RELATIONS
        self._heads = {
            canonical(phrase): label
            for kind, label in _HEADS.items()
            for phrase in gazetteer.cues.get(kind, ())
        }
        phrases = {phrase for kind in (*_KINDS, *_HEADS) for phrase in gazetteer.cues.get(kind, ())}
        ordered = sorted(phrases, key=lambda p: (-len(p), p))
        options = re2.Options()
        options.max_mem = 64 << 20
        options.never_capture = True
        titles = r"\b(?:mr|mrs|ms|dr|dre|mme|mlle|prof)\b\.? {1,2}[a-z]"
        pattern = f"(?i:{'|'.join(label_pattern(p) for p in ordered)})|{titles}"
        self._scanner = re2.compile(pattern.encode(), options)

    def recognize(self, document: Document) -> Iterator[Finding]:  # noqa: C901 (one kind of cue after the other)
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
            title = _LOWER_TITLE.match(text, start)
            if title is not None:
                yield from self._lower_title(text, start, title.end())
            if not whole_word(text, start, end):
                continue
            key = canonical(text[start:end])
            kind = self._kinds.get(key)
            head = self._heads.get(key)
            if head is not None and kind not in LABELS:
                cells = tables.column(start, end)
                if cells is not None:
                    yield from self._cells(text, cells, head, key)
                    continue
            if kind in LABELS:
                found = list(self._labelled(text, tables, start, end, kind))
                yield from found
                if not found and key in self._relations:
                    yield from self._kin(text, start, end, sure=False)
            elif kind == "kin":
                yield from self._kin(text, start, end, sure=key in _INTRODUCTIONS)
            elif kind == "salutation":
                yield from self._salutation(text, start, end)
            else:
                yield from self._closing(text, start, end)

    def _labelled(self, text: str, tables: Tables, start: int, end: int, kind: str) -> Iterator[Finding]:
        key = canonical(text[start:end])
        cells = tables.column(start, end)
        if cells is not None:
            near = text[max(0, start - _NEAR_KEYS) : start] + text[end : end + _NEAR_KEYS]
            if key not in _BARE_PARTS or _OTHER_PART.search(near):
                key = ""
            yield from self._cells(text, cells, kind, key)
            return
        gap = _STRONG_GAP.match(text, end)
        if gap is not None and "|" in gap[0] and not _begins_cell(text, start):
            return  # "ID'd by mother | GCS 11": the next cell is not what a word before a bar names
        if gap is not None and _OF_A_THING.search(text, max(0, start - 160), start):
            return
        if gap is None and _alone_on_line(text, start):
            gap = _LINE_GAP.match(text, end) or _WIDE_GAP.match(text, end)
        if gap is not None:
            around = text[max(0, start - _NEAR_KEYS) : start] + text[end : end + _NEAR_KEYS]
            is_part = kind in {"label_first", "label_last"} and (
                key not in _BARE_PARTS or _OTHER_PART.search(around) is not None
            )
            limit = min(len(text), gap.end() + 120)
            score = 0.92 if kind == "label_health" else 0.9
            found = self._value(text, gap.end(), limit, kind, "label", score, any_word=is_part)
        else:
            found = self._weak(text, end, kind)
        if found is not None:
            yield found

    def _cells(self, text: str, cells: list[tuple[int, int]], kind: str, key: str) -> Iterator[Finding]:
        """Read the cells of a column; ``key``: its head, if it may also head something else than names."""
        score = 0.87 if kind == "label_health" else 0.85
        any_word = kind in {"label_first", "label_last"} and key not in _BARE_PARTS
        for low, high in cells:
            if self._kinds.get(canonical(text[low:high])) in LABELS and low + 2 < high:
                continue  # a head below a head
            found = self._value(text, low, high, kind, "header", score, any_word=any_word)
            if found is not None:
                yield found

    def _value(  # noqa: PLR0917 (a place and what stands there)
        self,
        text: str,
        start: int,
        limit: int,
        kind: str,
        reason: str,
        score: float,
        *,
        any_word: bool = False,
    ) -> Finding | None:
        """Read the name that stands as the value of a label, in whatever case.

        ``any_word``: whether what stands there is a name even if it is an ordinary word.
        """
        leading = _LEADING.match(text, start, limit)
        if leading is not None:
            start = leading.end()
        title = _TITLE.match(text, start, limit)
        if title is not None:
            start = title.end()
        words = self._words(text, start, limit)
        while len(words) > 1 and _REMARK.search(text, words[0][0], words[-1][1]):
            words.pop()
        if not words or _LABEL_AGAIN.match(text, words[-1][1]):
            return None
        flags = [self._gazetteer.of(text[a:b]) for a, b in words]
        named = [bool(f & (Word.FIRST | Word.LAST)) for f in flags]
        plain = [not f & Word.ORDINARY for f in flags]
        capitals = [bool(_UPPER.match(text, a)) for a, _ in words]
        long = [b - a > 1 for a, b in words]
        believed = any(p and n and w for p, n, w in zip(plain, long, capitals, strict=True)) or any(
            p and n for p, n in zip(plain, named, strict=True)
        )
        fills = any_word and len(words) <= 3 and words[-1][1] - words[0][0] > 1  # noqa: PLR2004 (Mary Jo Ann)
        if (
            not believed
            and not fills
            and not (all(n or not w for n, w in zip(named, long, strict=True)) and any(capitals))
        ):
            return None
        if any(f & Word.NOT_PERSON and not n for f, n in zip(flags, named, strict=True)):
            return None
        full = len([w for w in long if w]) > 1
        bits = _bits(kind, full=full, first=bool(flags[0] & Word.FIRST) and not flags[0] & Word.LAST)
        titled = title is not None and title[0].lower().startswith(_TITLE_HEALTH_WORDS)
        after = CREDENTIALS.match(text, words[-1][1]) is not None
        if is_term(text, words[-1][1], self._gazetteer) and not _TELEPHONE.match(text, words[-1][1]):
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

    def _kin(self, text: str, start: int, end: int, *, sure: bool) -> Iterator[Finding]:
        """Read "his wife Mary", "my name is Ann Roy": a first name that is no ordinary word, or both."""
        is_relation = canonical(text[start:end]) in self._relations
        gap = (_KIN_GAP if is_relation else _SALUTATION_GAP).match(text, end)
        if gap is None:
            return
        if is_relation:
            relative = self._relative(text, start, end, gap)
            if relative is not None:
                yield relative
                return
        if not _UPPER.match(text, gap.end()):
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

    def _relative(self, text: str, start: int, end: int, gap: re.Match[str]) -> Finding | None:
        """Read "wife joy is", "SISTER LIGAYA 403", "husband Prince Thorne", "fille : Widelene"."""
        match = _WORD.match(text, gap.end())
        if match is None or len(match[0]) <= 2:  # noqa: PLR2004 (MD, RN)
            return None
        word, flags = match[0], self._gazetteer.of(match[0])
        if flags & (Word.NOT_PERSON | Word.EPONYM | Word.MONTH_OR_DAY | Word.CREDENTIAL):
            return None
        if is_term(text, match.end(), self._gazetteer) or word.lower() in _STOP_WORDS:
            return None
        cue, has_sign = text[start:end], any(c in gap[0] for c in ":=(")
        is_plain = not flags & Word.ORDINARY
        named = bool(flags & (Word.FIRST | Word.LAST))
        if word.islower():
            closed = _BEHIND_KIN.match(text, match.end()) is not None and word not in _VERBS_TOO
            good = bool(flags & Word.FIRST) and (is_plain or closed)
        elif word.isupper() and cue.isupper():
            number = _NUMBER_NEXT.match(text, match.end()) is not None
            good = (bool(flags & Word.FIRST) and is_plain) or (is_plain and (has_sign or number))
            good = good or (named and number)
        else:
            good = (cue.islower() and named) or (is_plain and (named or has_sign))
        if not good:
            return None
        stop = match.end()
        following = _WORD.match(text, stop + 1) if text[stop : stop + 1] == " " else None
        if following is not None and following[0][0].isupper() == word[0].isupper():
            last = self._gazetteer.of(following[0])
            known = last & (Word.LAST | Word.ORDINARY) == Word.LAST
            if known or not (last or word.islower() or word.isupper()):
                stop = following.end()
        return name_finding(
            match.start(), stop, health=False, bits=FIRST_ONLY if stop == match.end() else FULL_NAME,
            source="names.cue", score=0.7, reason=("label", "kin"),
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
        flags = self._gazetteer.of(match[0])
        is_doctor = text[start:end].startswith(("dr", "prof"))
        if flags & (Word.FIRST | Word.LAST) == 0 and (flags or not is_doctor or len(match[0]) < 4):  # noqa: PLR2004 (a name)
            return  # "ms contin", "mr angiography", "dr appointment"
        if flags & (Word.NOT_PERSON | Word.EPONYM | Word.MONTH_OR_DAY) or is_term(
            text, match.end(), self._gazetteer
        ):
            return
        following = _WORD.match(text, match.end() + 1) if text[match.end() : match.end() + 1] == " " else None
        if following and self._gazetteer.of(following[0]) & (Word.LAST | Word.ORDINARY) == Word.LAST:
            words.append(following.span())
        health = is_doctor
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


def _begins_cell(text: str, start: int) -> bool:
    """Tell whether a cue is the first word of its cell or line."""
    before = text[max(0, start - 4) : start].rstrip(" \"'*_")
    return not before or before[-1] in "\n|\t;,"


def _alone_on_line(text: str, start: int) -> bool:
    """Tell whether a cue begins its line (a list mark or quotation mark may stand before it)."""
    # Backwards mark by mark: looking for the line's start would read a long line again for each cue in it.
    while start and text[start - 1] in _LIST_MARKS:
        start -= 1
    return start == 0 or text[start - 1] == "\n"
