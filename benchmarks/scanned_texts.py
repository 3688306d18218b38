"""Marked texts drawn as pages and read back by the program's own readers, with the marks at what was read.

What was read is aligned with what was drawn, sign by sign; white space, accents and capitals make no
difference. Lines and cells that were read in another order are looked for where nothing else was read. A mark
of whose letters and figures not a third was read is unreadable: nobody could find it, so it is counted apart.

What was read is kept in a folder below the system's temporary one, under a name of the picture's bytes and of
the readers' code, so that a second run is quick and one after a change of the readers is not taken for it.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
import unicodedata
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchmarks.drawn_pages import STYLES
from phiscan.config import Limits
from phiscan.extract import extract_bytes

Mark = tuple[int, int, str]

N_PROCESSES = 2
LIMITS = Limits(ocr_s=600)  # what is read must not depend on how busy the machine is
_READERS = Path(__file__).resolve().parents[1] / "phiscan" / "extract"
_ABOUT_PICTURES = ("ocr/*.py", "pdf/*.py")
_ABOUT = ("#properties", "#metadata")  # what nobody drew
_LEAST_READ = 1 / 3  # of the letters and figures of a mark
_LEAST_ALIKE = 75  # of 100, of a line that was read elsewhere
_TORN = 30  # signs between two of a mark that were not read together
_SEPARATORS = (" | ", "  ", "\t", "\n")


@dataclass(frozen=True, slots=True)
class Scanned:
    """One text as it was read."""

    style: str
    drawn: str
    drawn_spans: list[Mark]
    text: str
    spans: list[Mark]
    unreadable: list[tuple[str, str]] = field(repr=False)  # type and what stood there
    n_pages: int
    seconds: float  # of reading, by the clock; other work on the machine counts


def scanned(name: str, documents: list[dict[str, Any]], style: str | None = None) -> list[Scanned]:
    """Return the texts of a set as they are read, one style after the other, or all in one."""
    jobs = []
    for number, document in enumerate(documents):
        chosen = style or list(STYLES)[(number + sum(map(ord, name))) % len(STYLES)]
        jobs.append((chosen, document["text"], f"{name} {number}"))
    with ProcessPoolExecutor(N_PROCESSES, initializer=os.nice, initargs=(10,)) as pool:
        read = list(pool.map(_read, jobs))
    found = []
    for document, (chosen, _, _), (text, n_pages, seconds) in zip(documents, jobs, read, strict=True):
        marks = [(start, end, kind) for start, end, kind in document["spans"]]
        spans, unreadable = carried(document["text"], text, marks)
        found.append(Scanned(chosen, document["text"], marks, text, spans, unreadable, n_pages, seconds))
    return found


def _read(job: tuple[str, str, str]) -> tuple[str, int, float]:
    style, text, seed = job
    data, name, n_pages = STYLES[style].file(text, f"{style} {seed}")
    digest = hashlib.blake2b(data + _readers(), digest_size=16).hexdigest()
    kept = Path(tempfile.gettempdir()) / "phiscan-scanned-texts" / f"{digest}.json"
    if not kept.exists():
        start = time.perf_counter()
        document = extract_bytes(data, name, LIMITS)
        seconds = time.perf_counter() - start
        kept.parent.mkdir(exist_ok=True)
        pages = [part for part in document.segments if part.locator not in _ABOUT]
        read = "\n".join(document.text[page.start : page.end] for page in pages)
        part = kept.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps([read, n_pages, seconds]), encoding="utf-8")
        part.replace(kept)
    return tuple(json.loads(kept.read_text(encoding="utf-8")))


@lru_cache(maxsize=1)
def _readers() -> bytes:
    files = sorted({path for shape in _ABOUT_PICTURES for path in _READERS.glob(shape)})
    return hashlib.blake2b(b"".join(path.read_bytes() for path in files)).digest()


def carried(drawn: str, read: str, marks: Iterable[Mark]) -> tuple[list[Mark], list[tuple[str, str]]]:
    """Return the marks of a drawn text at their places in what was read, and those that are unreadable."""
    places, same = _aligned(drawn, read)
    spans: list[Mark] = []
    unreadable: list[tuple[str, str]] = []
    for start, end, kind in marks:
        signs = [at for at in range(start, end) if drawn[at].isalnum()]
        piece = max(
            _pieces([(index, places[index]) for index in range(start, end) if index in places]), key=len
        )
        at = [place for _, place in piece]
        read_signs = {index for index, _ in piece} & same
        if at and sum(index in read_signs for index in signs) >= _LEAST_READ * len(signs):
            spans.append((min(at), max(at) + 1, kind))
        else:
            unreadable.append((kind, drawn[start:end]))
    return spans, unreadable


def _pieces(pairs: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Return the stretches of a mark read together; a part may have been taken from far away."""
    pieces: list[list[tuple[int, int]]] = [[]]
    for pair in pairs:
        if pieces[-1] and not -_TORN < pair[1] - pieces[-1][-1][1] < _TORN:
            pieces.append([])
        pieces[-1].append(pair)
    return pieces


def _aligned(drawn: str, read: str) -> tuple[dict[int, int], set[int]]:
    """Return where each sign of a drawn text is in what was read, and which of them are the same sign."""
    from rapidfuzz import fuzz  # noqa: PLC0415 (extra)

    ours, our_places = _plain(drawn)
    theirs, their_places = _plain(read)
    pairs = dict(_pairs(ours, theirs))
    parts = list(_parts(drawn, our_places))

    def share(part: tuple[int, int]) -> float:
        return sum(at in pairs and ours[at] == theirs[pairs[at]] for at in range(*part)) / (part[1] - part[0])

    lost = [part for part in parts if part[1] - part[0] > 3 and share(part) < 0.5]
    for part in lost:
        for at in range(*part):
            pairs.pop(at, None)
    free = list(theirs)
    for at in pairs.values():
        free[at] = "\0"
    for start, end in sorted(lost, key=lambda part: part[0] - part[1]):
        found = fuzz.partial_ratio_alignment(ours[start:end], "".join(free), score_cutoff=_LEAST_ALIKE)
        if found is None or found.src_end - found.src_start < (end - start) / 2:
            continue
        for ours_at, theirs_at in _pairs(ours[start:end], theirs[found.dest_start : found.dest_end]):
            pairs[start + ours_at] = found.dest_start + theirs_at
        free[found.dest_start : found.dest_end] = "\0" * (found.dest_end - found.dest_start)
    places = {our_places[one]: their_places[other] for one, other in pairs.items()}
    return places, {our_places[one] for one, other in pairs.items() if ours[one] == theirs[other]}


def _pairs(one: str, other: str) -> Iterator[tuple[int, int]]:
    from rapidfuzz.distance import Levenshtein  # noqa: PLC0415 (extra)

    for step in Levenshtein.opcodes(one, other):
        if step.tag in {"equal", "replace"}:
            yield from zip(
                range(step.src_start, step.src_end), range(step.dest_start, step.dest_end), strict=True
            )


def _plain(text: str) -> tuple[str, list[int]]:
    """Return a text's signs, small, without accents, white space as one space; and where each stood."""
    signs: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        if char.isspace():
            if signs and signs[-1] == " ":
                continue
            sign = " "
        else:
            sign = unicodedata.normalize("NFD", char.lower())[0]
        signs.append(sign)
        places.append(place)
    return "".join(signs), places


def _parts(text: str, places: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the lines and cells of a text, by the numbers of its plain signs."""
    begun = 0
    for number, place in enumerate(places):
        if any(text.startswith(separator, place) for separator in _SEPARATORS):
            if number > begun:
                yield begun, number
            begun = number + 1
    if begun < len(places):
        yield begun, len(places)
