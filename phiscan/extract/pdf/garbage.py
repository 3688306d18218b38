"""When the text of a page is garbage: characters that no reader would see."""

from __future__ import annotations

import unicodedata

_SHARE = 0.2
_MAX_CHECKED = 4000


def is_garbage(text: str) -> bool:
    r"""Tell text whose font gave no usable character codes.

    Garbage is a page where more than a fifth of the visible characters are replacement characters,
    private-use, unassigned or control codes, or ``(cid:12)`` marks.

    >>> is_garbage("Patient seen today"), is_garbage("\x01\x02\x03 \ue000\ue001 ab")
    (False, True)
    """
    sample = text[:_MAX_CHECKED]
    visible = "".join(sample.split())
    if not visible:
        return False
    n_cid = sample.count("(cid:") * 5
    n_odd = visible.count("\ufffd")
    if not visible.isprintable():
        n_odd += sum(unicodedata.category(char) in ("Co", "Cn", "Cc", "Cs") for char in visible)
    return (n_odd + n_cid) > _SHARE * len(visible)
