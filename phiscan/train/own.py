"""Texts of our own that no template made, for weak places that foreign text does not show.

``own_texts.txt``: texts below lines ``--- KIND``, names in double angle brackets. Every second text of a kind
is for development; the others are looked at once, after the weights are chosen.
"""

from __future__ import annotations

import re
from pathlib import Path

from phiscan.train.measure import Marked

DEVELOPMENT, FINAL = "own texts, development", "own texts, final"
PATH = Path(__file__).parent / "own_texts.txt"
_HEAD = re.compile(r"^--- ([a-z -]+)$", re.MULTILINE)
_NAME = re.compile(r"<<([^<>]+)>>")


def own_texts() -> dict[str, list[Marked]]:
    """Return the texts of both halves, in the order of the file."""
    _, *pieces = _HEAD.split(PATH.read_text(encoding="utf-8"))
    halves: dict[str, list[Marked]] = {DEVELOPMENT: [], FINAL: []}
    n_of_kind: dict[str, int] = {}
    for kind, body in zip(pieces[::2], pieces[1::2], strict=True):
        number = n_of_kind[kind] = n_of_kind.get(kind, -1) + 1
        halves[FINAL if number % 2 else DEVELOPMENT].append(_marked(body.strip("\n")))
    return halves


def _marked(body: str) -> Marked:
    """Return a text without its brackets.

    >>> _marked("seen by <<Ann Roy>>")
    Marked(spans=((8, 15, 'person'),), unscored=())
    """
    pieces: list[str] = []
    spans = []
    length = position = 0
    for match in _NAME.finditer(body):
        pieces += [body[position : match.start()], match[1]]
        start = length + match.start() - position
        length = start + len(match[1])
        spans.append((start, length, "person"))
        position = match.end()
    return Marked("".join([*pieces, body[position:]]), tuple(spans))
