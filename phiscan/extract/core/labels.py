"""Field names and column headers as labels: an identifier is best known by the words beside it."""

from __future__ import annotations

import re
from functools import lru_cache

from phiscan.lexicon.identifier_labels import label_words

# Words by which a header row, or the label in front of a value, is known. English and French.
_LABEL_WORDS_TEXT = """
account address adresse age amount birth carte category chart city claim code comments cost country
county courriel date department description diagnosis diagnostic doctor dossier drug email employee
fax first gender given group health hospital id identifier insurance key label last licence license
mail maiden medication member middle mobile name naissance nas nom no notes npi number numero numéro
patient phone physician plan policy postal prenom prénom price province provider qty quantity
reference region sex sexe sin ssn state status street subject surname tel telephone telecopieur
téléphone time title total type unit value vendor version ville visit year zip
"""
_LABEL_WORDS = frozenset(_LABEL_WORDS_TEXT.split()).union(label_words())
_WORD = re.compile(r"[^\W\d_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\-.]+")
_MAX_LABEL_CHARS, _MAX_DIGITS = 60, 2


@lru_cache(maxsize=4096)
def humanise(name: str) -> str:
    """Return a field name as words.

    >>> humanise("birthDate"), humanise("patient_last-name")
    ('birth Date', 'patient last name')
    """
    return " ".join(_CAMEL.sub(" ", name).split())


@lru_cache(maxsize=4096)
def is_label(text: str) -> bool:
    """Tell a cell that names what is beside or below it.

    >>> is_label("Date of birth"), is_label("Tremblay"), is_label("416-555-0100")
    (True, False, False)
    """
    stripped = text.strip()
    if len(stripped) > _MAX_LABEL_CHARS or "@" in stripped or sum(map(str.isdecimal, stripped)) > _MAX_DIGITS:
        return False
    return not _LABEL_WORDS.isdisjoint(_WORD.findall(_CAMEL.sub(" ", stripped).lower()))


def is_label_word(word: str) -> bool:
    """Tell one word by which labels are known.

    >>> is_label_word("Number"), is_label_word("Numb")
    (True, False)
    """
    return word.lower() in _LABEL_WORDS


def pair(label: str, value: str) -> str:
    """Join a label and its value the way a form does.

    >>> pair("Name:", "SMITH"), pair("", "SMITH")
    ('Name: SMITH', 'SMITH')
    """
    label = label.strip().rstrip(":").rstrip()
    return f"{label}: {value}" if label else value
