"""Serial numbers of devices and numbers of insurers that stand further on in the line of the word for them.

"hearing aids: Oticon More 1 R 61884417 L 61884418", "ILR Reveal LINQ II RLB884417G": between the word that
says what a number is and the number stand the maker, the model and the side. The words are those that name
medical goods and insurers and nothing else (``dictionaries/code_words.txt``); what follows counts only with
seven digits, six after "#", or five and letters, and where no other rule says what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import ClassVar

from phiscan.config import data_dir
from phiscan.lexicon.dictionary import load_dictionary
from phiscan.lexicon.gazetteer import fold
from phiscan.model import Document, EntityType, Finding, Reason, Span, bits_of
from phiscan.screen.recognizer import CaseVariant, Cost
from phiscan.screen.rules.context import whole_word
from phiscan.screen.validators.codes import record_code
from phiscan.screen.validators.dates import is_day
from phiscan.screen.validators.verdicts import Verdict
from phiscan.text.automata import automaton
from phiscan.text.offsets import spans_of
from phiscan.text.phrase_patterns import any_label

SOURCE = "line_codes"
SCORE = 0.45  # less than any label's
_REACH = {"device": 72, "plan": 40}  # characters after the word
_DAY_DIGITS = 8
_CODE_CHARS = 32  # more than any code and what must not follow it
_MAX_WORDS = 2000  # of one document
_KINDS = {"device": EntityType.DEVICE, "plan": EntityType.HEALTH_PLAN}
_CODES = {
    "device": re.compile(
        r"(?<![\w./$+-])#?(?P<code>[A-Z]{1,4}\d{5,9}[A-Z]{0,2}|\d{7,12}(?:[ .]\d{3}|-\d{3,5})?"
        r"|\d{1,4}[A-Z]{1,3}\d{4,9}[A-Z]?|[A-Z\d]{1,6}-(?:[A-Z\d]{1,4}-)?\d{5,9}[A-Z]?"
        r"|(?=(?:[A-Z]{0,6}\d){5})(?=[\dA-Z]{0,11}[A-Z])[A-Z\d]{8,13}|\d{2}-\d{4}-\d{4}"
        r"|\d{4}[A-Z]\d{2}[A-Z]\d|\d{4,7}-[A-Z]{1,2}\b|(?-i:[A-Z]{2,4} \d{6,8}"
        r"|[A-Z]{1,3} \d{3} \d{3}(?: \d{3})?|[A-Z]{2} \d{2}-\d{3})|\d{2} \d{3} \d{3}|(?<=#)\d{6})"
        r"(?![\w%+]|[.,/]\d|-\d| \d)",
        re.IGNORECASE,
    ),
    "plan": re.compile(
        r"(?<![\w./$+-])#?(?P<code>(?:[A-Z]{1,4} ?)?\d{6,12}(?:[ -]\d{2,3}|[A-Z])?|[A-Z]\d{4} \d{5}"
        r"|[A-Z]\d{4}-\d{3}|\d{2} \d{4} \d{3}|[A-Z] \d{3} \d{4}|\d{7}-\d{2}(?: [A-Z]\b)?"
        r"|[A-Z]{3}\d{3}[A-Z]\d{5}|\d{5} ?/ ?\d{4,8}|\d{6} ?/ ?\d{4,8})(?![\w%+]|[.,/]\d|-\d)"
    ),
}
# What numbers the kind of a thing, not the thing.
_OF_A_KIND = re.compile(
    r"(?:model|modèle|mod|ref|réf|cat|catalog(?:ue)?|part|pn|p/n|item|article|sku|gtin|upc|ean|pièce|bulletin|manual|manuel"
    r"|form|formulaire|din|ndc|npn|hcpcs|cpt|icd|pmid|doi|rev|version|firmware|iso"
    r"|iec|page|po|snomed|loinc|rxnorm|umdns|gmdn|cas|atc)\.?[ ]?(?:no|#|number|numéro)?[.: ]{0,3}$",
    re.IGNORECASE,
)
_KIND_CHARS = 24
_UNIT = re.compile(r"[ ]?(?:mg|mcg|ml|mL|kg|units?|unités?|IU|UI|USD|CAD|\$|members|membres|patients)\b")
_PHONE = re.compile(r"(?:1[-. ]?)?\(?[2-9]\d{2}\)?[-. ]?[2-9]\d{2}[-. ]?\d{4}")
_END = re.compile(r"\n|[.!?] (?=[A-ZÀ-Ý])")  # of a line or sentence


@cache
def load_code_words() -> tuple[tuple[str, ...], ...]:
    """Return the words for medical goods and insurers, and what a long number after each is.

    Raises:
        DictionaryError: the list cannot be read.
    """
    return load_dictionary(data_dir("dictionaries") / "code_words.txt").rows


class LineCodeRecognizer:
    """Find numbers after words for devices and insurers; built once per process."""

    name: ClassVar = "identifiers.device_and_insurer_numbers"
    cost: ClassVar = Cost.CHEAP
    case_variants: ClassVar = CaseVariant.AS_WRITTEN

    def __init__(self) -> None:
        rows = load_code_words()
        self._kinds = {fold(word): kind for word, kind in rows}
        self._words = automaton(any_label(word for word, _ in rows))

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings; they may overlap. Spans are half-open, in code points."""
        text = document.text
        places = spans_of(self._words, text)
        if not places:
            return
        stride = -(-len(places) // _MAX_WORDS)
        done = 0
        for start, end in places[::stride]:
            kind = self._kinds.get(fold(" ".join(text[start:end].split())))
            if kind is None or not whole_word(text, start, end):
                continue
            for low, high in _codes(text, max(end, done), end + _REACH[kind], kind):
                done = high
                reasons = (Reason("near", kind, SCORE),)
                entity_type = _KINDS[kind]
                yield Finding(Span(low, high), entity_type, SOURCE, SCORE, bits_of(entity_type), reasons)


def _codes(text: str, start: int, limit: int, kind: str) -> Iterator[tuple[int, int]]:
    """Yield the numbers between ``start`` and ``limit``, of which the last may go on beyond."""
    stop = _END.search(text, start, limit)
    limit = stop.start() if stop else limit
    for match in _CODES[kind].finditer(text, start, min(len(text), limit + _CODE_CHARS)):
        low, high = match.span("code")
        code = match["code"]
        if low >= limit or _UNIT.match(text, high) or record_code(code) is Verdict.VETO:
            continue
        if _OF_A_KIND.search(text, max(start, low - _KIND_CHARS), low):
            continue
        if len(code) == _DAY_DIGITS and code.isdecimal() and is_day(code):
            continue
        if _PHONE.fullmatch(code):
            continue
        yield low, high
