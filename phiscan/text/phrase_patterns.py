r"""One re2 pattern of many phrases, as a tree of what they begin with.

An automaton is in all alternatives at once until a letter decides. Written side by side, a thousand labels
are a thousand places in every state, each state takes long to build, and on a text that the process has not
seen before building states is most of the work. As a tree they share their beginnings: on the labels of all
rules the first pass over a text is fifteen times as fast (docs/decisions/0014).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, product
from typing import TypeAlias

NOTHING = r"[^\x{0}-\x{10FFFF}]"
_SEPARATOR = r"[ _'’/.\t-]{0,2}"  # noqa: RUF001 (names are written with it)
_SEPARATORS = frozenset(" -'’/")  # noqa: RUF001 (names are written with it)
_WORD_END = r"(?:\b|_)"
_ENDS = frozenset(("", _WORD_END))

_Tree: TypeAlias = dict[str, "_Tree"]


def any_label(labels: Iterable[str]) -> str:
    r"""Return a pattern of any of these labels in any of its written forms; of nothing where there are none.

    Of labels that begin alike the longest that fits is taken.

    >>> any_label(["dob", "do"])
    '(?i:(?:\\b|_)do(?:b(?:\\b|_)|(?:\\b|_)))'
    """
    return any_of(chain.from_iterable(map(_label, labels)))


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


def _label(label: str) -> Iterator[Sequence[str]]:
    """Yield the written forms of a label as parts: accents may be missing, words may be joined or apart.

    A letter with accent and one without are two forms, for boundaries know ASCII letters only: after "a" a
    word ends or does not, after "à" nothing can be asked.
    """
    for chars in product(*map(_written_as, label)):
        head = [_WORD_END] if _is_plain(chars[0]) else []
        tail = [_WORD_END] if _is_plain(chars[-1]) else []
        yield [*head, *chars, *tail]


@cache
def _written_as(char: str) -> tuple[str, ...]:
    """Return the patterns of one character of a label."""
    if char in _SEPARATORS:
        return (_SEPARATOR,)
    plain = unicodedata.normalize("NFD", char)[0]
    return (re.escape(char),) if plain == char else (char, plain)


def _is_plain(char: str) -> bool:
    return char.isascii() and char.isalnum()


def _late(part: str) -> tuple[bool, bool, str]:
    """Put after the others what may stand for nothing."""
    return part in _ENDS, part == _SEPARATOR, part


def _written(tree: _Tree) -> str:
    """Return the pattern of a tree; what continues is tried before what ends here."""
    stem = ""
    while len(tree) == 1:
        ((part, tree),) = tree.items()
        stem += part
    if not tree:
        return stem
    return f"{stem}(?:{'|'.join(part + _written(tree[part]) for part in sorted(tree, key=_late))})"
