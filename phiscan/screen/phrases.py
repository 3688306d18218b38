r"""One re2 pattern of many phrases, as a tree of what they begin with.

An automaton is in all alternatives at once until a letter decides. Written side by side, a thousand labels
are a thousand places in every state, each state takes long to build, and on a text that the process has not
seen before building states is most of the work. As a tree they share their beginnings: on the labels of all
rules the first pass over a text is fifteen times as fast (docs/decisions/0032).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TypeAlias

NOTHING = r"[^\x{0}-\x{10FFFF}]"
_SEPARATOR = r"[ _'’/.\t-]{0,2}"  # noqa: RUF001 (names are written with it)
_SEPARATORS = frozenset(" -'’/")  # noqa: RUF001 (names are written with it)
_WORD_END = r"(?:\b|_)"
_AT_AN_END = "(?:"  # how a letter with accent begins that is the first or last of its label
_ENDS = frozenset(("", _WORD_END))

_Tree: TypeAlias = dict[str, "_Tree"]


def any_label(labels: Iterable[str]) -> str:
    r"""Return a pattern of any of these labels in any of its written forms; of nothing where there are none.

    Of labels that begin alike the longest that fits is taken.

    >>> any_label(["dob", "do"])
    '(?i:(?:\\b|_)do(?:b(?:\\b|_)|(?:\\b|_)))'
    """
    return any_of(map(_label, labels))


def any_of(phrases: Iterable[Sequence[str]]) -> str:
    """Return a pattern of any of these phrases, each a sequence of patterns; upper and lower case are one.

    >>> any_of(["centre", "center"])
    '(?i:cent(?:er|re))'
    """
    tree: _Tree = {}
    for phrase in phrases:
        node = tree
        for part in phrase:
            node = node.setdefault(part, {})
        node[""] = {}
    return f"(?i:{_written(tree) if tree else NOTHING})"


def _label(label: str) -> Sequence[str]:
    """Return the parts of a label: accents may be missing, words may be joined or apart."""
    last = len(label) - 1
    parts = [_written_as(char, first=not place, last=place == last) for place, char in enumerate(label)]
    head = [_WORD_END] if _is_plain(label[0]) else []
    tail = [_WORD_END] if _is_plain(label[-1]) else []
    return [*head, *parts, *tail]


def _written_as(char: str, *, first: bool, last: bool) -> str:
    """Return the pattern of one character of a label.

    Without its accent a letter at either end of the label begins or ends a word: else "à" would stop at every
    "a". With it nothing can be asked: boundaries know ASCII letters only.
    """
    if char in _SEPARATORS:
        return _SEPARATOR
    if _is_plain(char):
        return char
    plain = unicodedata.normalize("NFD", char)[0]
    if plain == char:
        return re.escape(char)
    if not (first or last):
        return f"[{char}{plain}]"
    return f"{_AT_AN_END}{char}|{_WORD_END if first else ''}{plain}{_WORD_END if last else ''})"


def _is_plain(char: str) -> bool:
    return char.isascii() and char.isalnum()


def _late(part: str) -> tuple[bool, int, bool, bool, str]:
    """Put behind the others what may stand for one of them, or for nothing."""
    is_end = part in _ENDS
    at_ends = 0 if is_end else part.startswith(_AT_AN_END) + part.endswith(f"{_WORD_END})")
    return is_end, at_ends, part == _SEPARATOR, part.startswith("["), part


def _written(tree: _Tree) -> str:
    """Return the pattern of a tree; what goes on is tried before what ends here."""
    stem = ""
    while len(tree) == 1:
        ((part, tree),) = tree.items()
        stem += part
    if not tree:
        return stem
    return f"{stem}(?:{'|'.join(part + _written(tree[part]) for part in sorted(tree, key=_late))})"
