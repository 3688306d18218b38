"""Texts written by hand for the training, and marked texts of a site, with styles that templates lack.

``texts/*.txt``: everyday texts below lines ``===== ID``; a name is in ``⟦KIND|name⟧``, where KIND is P
for a person, O an organization, L a place, A a part of a street address. ``manifest.toml`` lists what is
marked in each file and what it is used for: files in which numbers are marked in the same way (``NUMBERS``,
or the name of a type) train the number classifier only; ``numbers.txt`` labels the numbers of the others. All
people in them are invented. A tenth of the texts for names is held out of every fold, to measure with.
"""

from __future__ import annotations

import random
import re
import tomllib
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Final

from phiscan.errors import InputError
from phiscan.metrics.deidentification.span_formats import parse_jsonl
from phiscan.metrics.deidentification.spans import LabelledSpan
from phiscan.model import EntityType
from training.corpora.documents import ADDRESS, LOCATION, ORGANIZATION, Labelled, mapped, scanned
from training.corpora.open_texts import LABELS, apart, surrogate
from training.corpora.people import PERSON
from training.corpora.world import World

FOLDER: Final = Path(__file__).parent / "texts"
KINDS: Final = {"P": PERSON, "O": ORGANIZATION, "L": LOCATION, "A": ADDRESS}
DISTURBED = 0.35  # share of the copies in capitals, in lower case or with OCR errors
NUMBERS: Final = {
    "D": EntityType.DATE.value,
    "T": EntityType.PHONE.value,
    "E": EntityType.EMAIL.value,
    "Y": EntityType.AGE_OVER_89.value,
}
MANIFEST: Final = "manifest.toml"  # in the parent folder of the texts
_HEAD = re.compile(r"^===== (\S+)$", re.MULTILINE)
_MARK = re.compile(r"⟦([A-Z_]+)\|([^⟦⟧|]+)⟧")


@dataclass(frozen=True)
class Texts:
    """The texts to train on in addition to generated ones: ``data``, a folder of the openly licensed sets.

    ``marked``: files of marked texts, JSON lines as ``phiscan score spans`` reads them.
    """

    data: Path | None = None
    marked: tuple[Path, ...] = ()


def own_texts() -> Iterator[tuple[str, str, str]]:
    """Yield the texts of ``texts/``: name of the file, ID, and the text with its marks."""
    for path in sorted(FOLDER.glob("*.txt")):
        _, *pieces = _HEAD.split(path.read_text(encoding="utf-8"))
        for name, body in zip(pieces[::2], pieces[1::2], strict=True):
            yield path.stem, name, body.strip("\n") + "\n"


def files_of_names() -> list[Path]:
    """Return the files of ``texts/`` on which the name tagger is trained."""
    return [path for path in sorted(FOLDER.glob("*.txt")) if not marks_numbers(path.stem)]


def marks_numbers(source: str) -> bool:
    """Return whether numbers are marked in a file of ``texts/``, by its name in ``manifest.toml``.

    Raises:
        InputError: the manifest does not list the file.
    """
    manifest = FOLDER.parent / MANIFEST
    entry = _manifest(manifest).get(source)
    if entry is None:
        message = f"{manifest}: field {source}: expected an entry for each file of {FOLDER.name}/"
        raise InputError(message)
    return "numbers" in entry["marks"]


@cache
def _manifest(path: Path) -> dict[str, dict[str, list[str]]]:
    texts: dict[str, dict[str, list[str]]] = tomllib.loads(path.read_text(encoding="utf-8"))["texts"]
    return texts


def written(*, held_out: bool | None = None) -> list[Labelled]:
    """Return the texts for the name tagger: all, the held-out ones, or the others."""
    return [
        parsed(text)
        for source, _, text in own_texts()
        if not marks_numbers(source)
        and (held_out is None or (zlib.crc32(text.encode()) % 10 == 0) == held_out)
    ]


def parsed(text: str) -> Labelled:
    """Return a text without its marks.

    >>> parsed("seen by ⟦P|Ann Roy⟧")
    Labelled(text='seen by Ann Roy', spans=((8, 15, 'PER'),))
    """
    plain, marks = unmarked(text)
    return Labelled(plain, tuple((start, end, KINDS[kind]) for start, end, kind in marks if kind in KINDS))


def unmarked(text: str) -> tuple[str, list[LabelledSpan]]:
    """Return a text without its marks, and the marked spans of names and numbers with their kinds."""
    pieces: list[str] = []
    marks: list[LabelledSpan] = []
    length = position = 0
    for mark in _MARK.finditer(text):
        pieces += [text[position : mark.start()], mark[2]]
        start = length + mark.start() - position
        length = start + len(mark[2])
        marks.append(LabelledSpan(start, length, NUMBERS.get(mark[1], mark[1])))
        position = mark.end()
    return "".join([*pieces, text[position:]]), marks


def marked_texts(path: Path) -> Iterator[tuple[str, tuple[LabelledSpan, ...]]]:
    """Yield the texts of a file of marked texts with their spans.

    Raises:
        InputError: the file cannot be read, or a line is another; names the file, the line and the field.
    """
    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path}: expected JSON lines of marked texts: {type(error).__name__}"
        raise InputError(message) from None
    for number, document in enumerate(parse_jsonl(str(path), content), start=1):
        if document.text is None:
            message = f"{path}: text {number}, field text: expected a text"
            raise InputError(message)
        yield document.text, document.spans


def read_marked(path: Path) -> Iterator[Labelled]:
    """Yield marked texts with the spans of names; types other than names and places are left out.

    Raises:
        InputError: the file cannot be read, or a line is another; names the file and the line.
    """
    for text, spans in marked_texts(path):
        named = sorted((one.start, one.end, LABELS[one.type]) for one in spans if one.type in LABELS)
        yield Labelled(text, tuple(apart(named)))


def copies(texts: Sequence[Labelled], n_copies: int, seed: int) -> Iterator[Labelled]:
    """Yield every text, then copies with other names, a part in another case or with OCR errors."""
    world = World(seed)
    chance = random.Random(seed)
    writings: tuple[Callable[[str], str], ...] = (str.upper, str.lower, partial(scanned, chance))
    for number in range(n_copies):
        for text in texts:
            copy = surrogate(text, world) if number else text
            if number and chance.random() < DISTURBED:
                copy = mapped(copy, chance.choice(writings))
            yield copy
