"""Texts that were decoded with a wrong code page: words with signs or capitals within them."""

from __future__ import annotations

import re

_MOST_CHARS = 100_000
_MIN_WORDS = 3
_MIN_SHARE = 0.4  # of the words with a letter outside ASCII
_ODD = re.compile(
    r"[A-Za-z\xe0-\xff][\x80-\x9f\u201a\u201e\u2020-\u2022\u2026\u2030\u2039\u02c6\u2018\u201c\u201d\u02dc\u2122"
    r"\xa1-\xb6\xb8-\xbf\ufffd]{1,4}[a-z\xe0-\xff]"
    r"|[a-z\xe0-\xff][\u0160\u017d\u0152\u0178\xc0-\xde][a-z\xe0-\xff]"
)


def is_undecoded(data: bytes, text: str) -> bool:
    """Tell whether a text whose bytes are no UTF-8 has signs where letters of its language should be."""
    if data.isascii() or not text:
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        head = text[:_MOST_CHARS]
        n_odd = 0 if head.isascii() else len(_ODD.findall(head))
        return n_odd >= max(_MIN_WORDS, _MIN_SHARE * sum(not word.isascii() for word in head.split()))
    return False
