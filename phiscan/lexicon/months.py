"""The months in English and French, full and shortened: the one list of all that read dates."""

from __future__ import annotations

_ENGLISH = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
FRENCH_MONTHS = (
    *("janvier", "février", "mars", "avril", "mai", "juin"),
    *("juillet", "août", "septembre", "octobre", "novembre", "décembre"),
)
_ENGLISH_SHORT = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep sept", "oct", "nov", "dec")
_FRENCH_SHORT = (
    *("janv", "févr fevr fév fev", "mars", "avr", "mai", "juin"),
    *("juil", "aoû aou", "sept", "oct", "nov", "déc"),
)
_WITHOUT_ACCENTS = str.maketrans("éû", "eu")


def _numbered(*rows: tuple[str, ...]) -> dict[str, int]:
    return {name: number for row in rows for number, names in enumerate(row, 1) for name in names.split()}


_FRENCH_PLAIN = tuple(name.translate(_WITHOUT_ACCENTS) for name in FRENCH_MONTHS)
MONTHS = _numbered(_ENGLISH, _ENGLISH_SHORT, FRENCH_MONTHS, _FRENCH_PLAIN, _FRENCH_SHORT)
"""The number of a month by its name in small letters, with accents and without."""
UNAMBIGUOUS_MONTHS = frozenset(_numbered(_ENGLISH, _ENGLISH_SHORT, _FRENCH_PLAIN)) - {"may", "mai"}
"""Names of months, without accents, that no language has as another frequent word or first name."""
MONTH_STEM = "(?:jan|f[eé]v|feb|mar|a[pv]r|ma[iy]|ju[nil]|a[uo][gûu]|sep|oct|nov|d[eé]c)"
"""How the names of months begin, as a pattern."""
