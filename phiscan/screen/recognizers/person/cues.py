"""Names after a cue: the label of a form, or the head of a column; findings from the words of the value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from phiscan.lexicon.capitalized_words import (
    CREDENTIALS,
    FIRST_ONLY,
    FULL_NAME,
    LAST_ONLY,
    UPPER,
    WORD,
    is_term,
    name_finding,
)
from phiscan.lexicon.gazetteer import Gazetteer, Word, fold
from phiscan.lexicon.identifier_labels import label_words
from phiscan.lexicon.months import MONTHS
from phiscan.lexicon.ordinary_words import load_ordinary
from phiscan.lexicon.role_words import KIN
from phiscan.model import Document, Finding, PiiBit
from phiscan.screen.filters.false_names import load_vetoes
from phiscan.screen.rules.context import canonical, whole_word
from phiscan.screen.table_columns import Tables
from phiscan.text.automata import automaton, spans_of
from phiscan.text.phrase_patterns import any_label

LABELS = ("label", "label_first", "label_last", "label_health")
INTRODUCTIONS = ("introduction", "introduction_called", "introduction_weak")  # my name is, call me, I am
# What a column of names holds where it names no person.
_NO_PERSON = frozenset(
    "empty vacant blocked closed clean dirty male female iso isolation hold held ready pending open new adm"  # noqa: SIM905 (a list of words)
    " vide libre fermé ferme bloqué homme femme pt patient unknown unk admit transfer".split()
)
_HEADS = {"head": "label", "head_health": "label_health"}  # what counts as the head of a column only
_STRONG_GAP = re.compile(
    r"(?:s\b)?[ \t]{0,4}(?:\([^()\n]{1,24}\)[ \t]{0,3})?(?:[:=>|\t]|[\"']\s{0,2}:|&gt;|\.{2,40}|_{2,40})"
    r"[ \t\"'\[{(>*_|#]{0,12}(?:\r?\n[ \t]{0,8})?[\"'\[ ]{0,4}"
)
_LINE_GAP = re.compile(r"[ \t]{0,4}\r?\n[ \t]{0,8}")
_WIDE_GAP = re.compile(r"[ \t]{2,12}|[ \t]{0,3}[-–—][ \t]{1,3}")  # noqa: RUF001 (names are written with it)
_TITLE = re.compile(
    r"(?:(?:mr|mrs|ms|miss|mx|dr|dre|prof|mme|mlle|rev|hon|the|m)\b\.?[ ,]{0,2}){1,2}", re.IGNORECASE
)
_WORD = re.compile(WORD)
_JOIN = re.compile(r"\.? \"(?=\w)|\.?\" |\.? \((?=\w)|\.?\) |[ \u00a0]|\.[ ]?|, ?|\^")
_DAY_OR_YEAR = re.compile(r"[.,]?[ ]{1,2}\d")
STOP_WORDS = frozenset(
    "date birth age sex gender phone tel address email id no number male female m.d md unknown"  # noqa: SIM905 (a list of words reads best as a text)
    " none nil ok okay"
    " na n/a null true false yes no not see as per same self other various pending test the and or with"
    " of in on"
    " is was has had et ou le la les un une au aux pour sur est patient name nom signature title titre type"
    " city state zip street ssn fax home work cell relationship relation reason room bed unit ward hospital"
    " clinic department dept facility date/time time from to re cc subject sent of"
    " cell tel ext poste unknown inconnu aucun aucune none her his their our your leur notre"
    " votre".split()
).union(label_words())
_MAX_WORDS = 5
_MIN_ROLE = 7  # letters of an occupation after a name that no list has
# What a value begins with that is no part of the name: the cross before a signature, a word of kinship.
_LEADING = re.compile(
    r"(?:[xX][ ]{1,3}|(?:Suivi|Dossier|Rapport|Demande|Visite|Consultation|Congé|Résultats?)[ ](?:de|pour)[ ]"
    rf"|{KIN}[ ]{{1,2}}(?=[^\W\d_a-zà-ÿ]))",
)
_REMARK = re.compile(r"[ ]\([^\W\d_]*$")  # a bracket that opens within a name and closes after it
_TELEPHONE = re.compile(r"[ ]{1,3}(?:cell|home|work)\b", re.IGNORECASE)
_CELL = re.compile(r"(?:[^\t,]|,(?=[ ]))+")
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
_UPPER = re.compile(f"[{UPPER}]")
_LIST_MARKS = " \t>*-•\"'#|"
# After the name with which people introduce themselves: the end of a clause, or what they say of themselves.
_SELF = r"(?:(?:and|et)[ ]+)?(?:i(?:['’]?m|['’]ve)?|my|je|j['’]|mon|ma|mes)\b"  # noqa: RUF001 (texts are written with it)
_STATEMENT = re.compile(rf"[ ]*[.,;:!?-]*[ \n]*{_SELF}", re.IGNORECASE)
_CLAUSE_END = re.compile(
    rf"[ ]*(?:[^\w\s'’-]|\n|$)|[ ](?:{_SELF}|(?:-|[–—]|and|et|from|de|du|calling|here|au)(?!\w))",  # noqa: RUF001 (texts are written with it)
    re.IGNORECASE,
)
_GREETING = re.compile(r"\b(?:hi|hello|hey|bonjour|bonsoir|salut|all[oô])\b[^\w\n]{1,3}$", re.IGNORECASE)
_GREETING_CHARS, _INTRODUCTION_GAP = 12, re.compile(r"[ ]{1,3}")
# How predicates end, and adverbs that are made of them: "my name is misspelled", "wrong" and "wrongly".
_PARTICIPLE = re.compile(r"[a-z]{2,}(?:ed|ing|ée?s?)")
_ADVERBS = ("ly", "ment", "lement", "ement")
_NAMES = Word.FIRST | Word.LAST
_TITLE_HEALTH_WORDS = ("dr", "dre", "prof", "docteur", "doctor")


class CueRecognizer:
    """Find names by what precedes them; a label makes even unknown words a name."""

    def __init__(self, gazetteer: Gazetteer) -> None:
        self._gazetteer = gazetteer
        self._kinds: dict[str, str] = {}
        for kind in (*LABELS, *INTRODUCTIONS):
            for phrase in gazetteer.cues.get(kind, ()):
                self._kinds.setdefault(canonical(phrase), kind)
        self._vetoes = load_vetoes(gazetteer)
        self._ordinary = load_ordinary()
        self._heads = {
            canonical(phrase): label
            for kind, label in _HEADS.items()
            for phrase in gazetteer.cues.get(kind, ())
        }
        phrases = {
            phrase for kind in (*LABELS, *INTRODUCTIONS, *_HEADS) for phrase in gazetteer.cues.get(kind, ())
        }
        self._scanner = automaton(any_label(phrases))

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings in the order of their cues; spans are half-open, in code points."""
        text = document.text
        places = spans_of(self._scanner, text)
        if not places:
            return
        tables = Tables(text)
        for start, end in chain.from_iterable(_by_cells(text, *place) for place in places):
            if not whole_word(text, start, end):
                continue
            key = canonical(text[start:end])
            kind = self._kinds.get(key)
            head = self._heads.get(key)
            if head is not None and kind is None:
                cells = tables.column(start, end)
                if cells is not None:
                    yield from self._cells(text, cells, head, key)
                    continue
            if kind in INTRODUCTIONS:
                yield from self._introduced(text, start, end, kind)
            elif kind is not None:
                yield from self._labelled(text, tables, start, end, kind)

    def _introduced(self, text: str, start: int, end: int, kind: str) -> Iterator[Finding]:
        """Yield the name with which somebody introduces themselves: a word that can be a name.

        An ordinary word is one only with a capital, or where a statement about the speaker follows; after
        "I am" only a first name. What the tagger finds of the rest of the name is united with it.
        """
        gap = _INTRODUCTION_GAP.match(text, end)
        word = gap and _WORD.match(text, gap.end())
        if not word or word[0].lower() in STOP_WORDS:
            return
        flags, is_weak = self._gazetteer.of(word[0]), kind == "introduction_weak"
        following = _WORD.match(text, word.end() + 1)
        is_named = following and following[0].istitle() and self._gazetteer.of(following[0]) & _NAMES
        if not (is_named or _CLAUSE_END.match(text, word.end())):
            return
        is_first = bool(flags & Word.FIRST)
        is_greeted = _GREETING.search(text, max(0, start - _GREETING_CHARS), start) is not None
        is_month = fold(word[0]) in MONTHS and (is_greeted or not is_weak)
        if (kind != "introduction" or not flags or flags & Word.MONTH_OR_DAY) and not (is_first or is_month):
            return
        if flags & Word.ORDINARY or not flags & _NAMES:
            is_capital = word[0].istitle() and not text[start:end].istitle()
            is_said = is_greeted if is_weak else is_first or _STATEMENT.match(text, word.end())
            is_sure = is_first and not is_weak
            if not (is_capital or is_said) or not (is_sure or not self._is_predicate(word[0].lower())):
                return
        yield name_finding(
            *word.span(), health=False, bits=FIRST_ONLY, source="names.introduction", score=0.8,
            reason=("introduction", kind),
        )  # fmt: skip

    def _is_predicate(self, word: str) -> bool:
        """Tell whether a word says something of a name or a person: a participle or an adjective."""
        is_adjective = any(self._ordinary.is_one(word + ending) for ending in _ADVERBS)
        return is_adjective or _PARTICIPLE.fullmatch(word) is not None

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
            if found is not None:
                yield found

    def _cells(self, text: str, cells: list[tuple[int, int]], kind: str, key: str) -> Iterator[Finding]:
        """Read the cells of a column; ``key``: its head, if it may also head something else than names."""
        score = 0.87 if kind == "label_health" else 0.85
        any_word = kind in {"label_first", "label_last"} and key not in _BARE_PARTS
        for low, high in cells:
            cell = text[low:high].strip()
            if len(cell) == 1 and kind in {"label", "label_health"}:
                continue  # the letter of a row, and no initial
            if self._kinds.get(canonical(text[low:high])) in LABELS and low + 2 < high:
                continue  # a head below a head
            if cell.lower() in _NO_PERSON:
                continue  # an empty bed
            found = self._value(text, low, high, kind, "header", score, any_word=any_word)
            if found is not None:
                yield found

    def _value(  # noqa: PLR0917 (a place and what is there)
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
        """Read the name that is the value of a label, in any letter case.

        ``any_word``: whether what is there is a name even if it is an ordinary word.
        """
        leading = _LEADING.match(text, start, limit)
        if leading is not None:
            start = leading.end()
        title = _TITLE.match(text, start, limit)
        if title is not None:
            start = title.end()
        words = read_words(self._gazetteer, text, start, limit)
        while len(words) > 1 and _REMARK.search(text, words[0][0], words[-1][1]):
            words.pop()
        if not words or _LABEL_AGAIN.match(text, words[-1][1]):
            return None
        if self._vetoes.is_label(text, words[0][0], words[-1][1]):
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


def _bits(kind: str, *, full: bool, first: bool) -> frozenset[PiiBit]:
    if kind == "label_first":
        return FIRST_ONLY
    if kind == "label_last":
        return LAST_ONLY
    if full:
        return FULL_NAME
    return FIRST_ONLY if first else LAST_ONLY


def _by_cells(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a phrase in cells of their own: "Nom,Prénom" heads two, "Nom, prénom" one."""
    yield from (cell.span() for cell in _CELL.finditer(text, start, end))


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


def read_words(gazetteer: Gazetteer, text: str, start: int, limit: int) -> list[tuple[int, int]]:  # noqa: C901, PLR0912 (one decision after the other reads best in one place)
    """Return the words of the name that begins at ``start``, up to other punctuation or a label."""
    words: list[tuple[int, int]] = []
    position, commas, lower = start, 0, None
    while len(words) < _MAX_WORDS:
        match = _WORD.match(text, position, limit)
        if match is None:
            break
        word = match[0]
        flags = gazetteer.of(word)
        is_lower = word[0].islower()
        particle = bool(flags & Word.PARTICLE)
        if word.lower() in STOP_WORDS and not (particle and words and is_lower):
            break
        if flags & Word.CREDENTIAL and words and word.isupper() and len(word) > 1:
            break
        if flags & Word.MONTH_OR_DAY and words and _DAY_OR_YEAR.match(text, match.end()):
            break  # "Ann Roy, March 2024": a date after the name
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
    while words and gazetteer.of(text[slice(*words[-1])]) & Word.PARTICLE and len(words) > 1:
        if not text[words[-1][0]].islower():
            break
        words.pop()
    return words[: _n_before_role(gazetteer, text, words)]


def _n_before_role(gazetteer: Gazetteer, text: str, words: list[tuple[int, int]]) -> int:
    """Return how many words stand before a comma with what somebody does: "Ann Roy, Manager"."""
    n_before = next(
        (n for n in range(2, len(words)) if "," in text[words[n - 1][1] : words[n][0]]), len(words)
    )
    if n_before == len(words) or any(end - start == 1 for start, end in words[:2]):
        return len(words)
    first, after_comma = (text[slice(*words[n])] for n in (0, n_before))
    of_first, of_after = gazetteer.of(first), gazetteer.of(after_comma)
    if of_after & Word.FIRST:
        return len(words)
    is_known = of_first & Word.FIRST and not of_first & Word.PARTICLE  # not "Van Dyke, Will"
    is_short = after_comma.isupper() and len(after_comma) > 1 and not first.isupper()
    is_role = of_after & Word.ORDINARY and (is_known or len(after_comma) >= _MIN_ROLE)
    return n_before if is_short or is_role else len(words)
