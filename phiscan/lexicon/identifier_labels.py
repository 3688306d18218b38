"""Abbreviations that label an identifier (DOB, DDN, MRN, RAMQ), from the contexts in ``patterns/``.

One that is added there is known to the rules, and to all that reads labels for another reason: heads of
tables, columns of patient lists, spoken numbers, words that are no names.
"""

import tomllib
from functools import cache

from phiscan.config import data_dir

BIRTH_DATE, RECORD, CARD = "date_of_birth", "mrn", "health_card"


@cache
def _of_contexts() -> dict[str, list[str]]:
    files = [tomllib.loads(path.read_text(encoding="utf-8")) for path in data_dir("patterns").glob("*.toml")]
    return {name: table.get("words", []) for one in files for name, table in one.get("context", {}).items()}


def label_words(*contexts: str) -> list[str]:
    """Return the field ``words`` of contexts, of all by default: in small letters, sorted.

    >>> label_words(RECORD), "ddn" in label_words()
    (['mrn'], True)
    """
    words = _of_contexts()
    return sorted(word for name in contexts or words for word in words[name])
