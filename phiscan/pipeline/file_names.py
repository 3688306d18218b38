"""What files are called: "Tremblay_Marie_echo.pdf" holds a report that names nobody, and everybody knows whose it is.

The names of the members of a container, of the file and of folders of patients are read like text. Where one of them
says who somebody is, they are put after the text as segments of their own, so that what is found there has its place,
counts, and can be shown; of any other file neither text nor result changes. Members come first: they are the same in
every copy, and so are their places.

A folder counts only below one that is called after patients ("Clients/Okafor, Chidi/plan.docx"): on a share most
folders with a person's name are those of staff.
"""  # noqa: E501 (a name and its story)

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from phiscan.health.decision_table import DIRECT, NAMES
from phiscan.lexicon.gazetteer import Word, load_gazetteer
from phiscan.model import FILE_NAME, FOLDER_NAME, Document, EntityType, Finding, Segment, SourceFile
from phiscan.screen import Screener, screen
from phiscan.screen.ner.tagger import SOURCE

MAX_NAMES = 200  # of the members of a container
_OF_PATIENTS = re.compile(
    r"(?:^|[\W\d_])(?:(?:in|out)?patient(?:e|es|s)?|clients?|clientes|residents?|residentes?|dossiers?|charts?|usagers?"
    r"|b[ée]n[ée]ficiaires?|case[ _-]?files?|(?:medical|health|patient)[ _-]?records)(?:$|[\W\d_])",
    re.IGNORECASE,
)
_OF_STAFF = re.compile(
    r"(?:^|[\W\d_])(?:cv|c\.v|resume|r[ée]sum[ée] de|curriculum|timesheets?|payroll|pay ?stubs?"
    r"|contract|contrat|schedules?|horaires?|vacation|vacances|interview|entrevue|job|poste|offer|performance)(?:$|[\W\d_])",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]?[^\W\d_A-Z]+|[A-Z]{2,}")
_MIN_UNKNOWN = 3  # letters of a word that no list has
_LONG_NUMBER = re.compile(r"\d(?:[ ._-]?\d){5}")
_PLACE = re.compile(r"#[a-z]+[0-9]*(?:[!/][A-Za-z]+[0-9]*)*\Z")  # within a member; a name may hold "#", too
_RANGE = re.compile(r"(?:^|!/)bytes \d+-\d+\Z")  # a window of a large content has no name
_PATH = re.compile(r"[/\\]")

Named = tuple[str, str]
"""A locator and the file name that it represents."""


def names_of(source: SourceFile) -> tuple[Named, ...]:
    """Return the name of a file, then the folders below one that is called after patients."""
    *folders, name = source.path.decode("utf-8", "replace").split("/")
    root = source.root.decode("utf-8", "replace").rstrip("/").rpartition("/")[2]
    below = _below_patients([root, *folders])
    return ((FILE_NAME, _shown(name)), *((FOLDER_NAME, _shown(folder)) for folder in below))


def members_of(document: Document) -> tuple[Named, ...]:
    """Return what the members of a container are called, the first ones of many, each once."""
    found: dict[Named, None] = {}
    previous = None
    for segment in document.segments:
        way = _PLACE.sub("", segment.locator)
        way = _RANGE.sub("", way)
        if not way or way == previous:
            continue
        previous, above = way, ""
        for part in way.split("!/"):
            above = f"{above}!/{part}" if above else part
            *folders, name = _PATH.split(part)
            found.setdefault((f"{above}{FILE_NAME}", _shown(name)))
            for folder in _below_patients(folders):
                found.setdefault((f"{above}{FOLDER_NAME}", _shown(folder)))
        if len(found) >= MAX_NAMES:
            break
    return tuple(found)[:MAX_NAMES]


def with_names(document: Document, names: Sequence[Named]) -> Document:
    """Return the document with these names after its text, a line and a segment each."""
    if not names:
        return document
    text = document.text if document.text.endswith("\n") or not document.text else f"{document.text}\n"
    segments, pieces = list(document.segments), [text]
    start = len(text)
    for locator, name in names:
        if name:
            segments.append(Segment(locator, start, start + len(name)))
            pieces.append(f"{name}\n")
            start += len(name) + 1
    return replace(document, text="".join(pieces), segments=tuple(segments))


def any_names_person(names: Sequence[Named], screener: Screener) -> bool:
    """Tell whether one of these names says who somebody is."""
    if not any(_may_name(name) for _, name in names):
        return False
    alone = with_names(Document("", (), "text/plain"), names)
    return any(_is_telling(finding) for finding in screen(alone, screener).counted)


def as_examined(document: Document, names: Sequence[Named], n_chars: int) -> Document:
    """Return a document that was read again with the names that stood after its text when it was examined.

    ``n_chars``: the length of the text that was examined; each choice of names has another.
    """
    members = members_of(document)
    for some in ((), names, members, (*members, *names)):
        named = with_names(document, some)
        if len(named.text) == n_chars:
            return named
    return document


def _below_patients(folders: Sequence[str]) -> Sequence[str]:
    first = next((place for place, folder in enumerate(folders, 1) if _OF_PATIENTS.search(folder)), None)
    return () if first is None else folders[first:]


def _shown(name: str) -> str:
    """Return a name on one line, in words and composed letters, as text has them.

    In some file systems it may hold anything; underscores are the blanks of file names.
    """
    words = unicodedata.normalize("NFC", name.replace("_", " ").replace("%20", " "))
    return "".join(char if char.isprintable() else "\ufffd" for char in words)


def _may_name(name: str) -> bool:
    """Tell whether a name holds a word that may be somebody's, or a long number, and none of staff."""
    stem = name.rpartition(".")[0] or name
    if _OF_STAFF.search(stem):
        return False
    if _LONG_NUMBER.search(stem):
        return True
    of = load_gazetteer().of
    return any(
        flags & (Word.FIRST | Word.LAST) or (not flags & Word.ORDINARY and len(word) >= _MIN_UNKNOWN)
        for word, flags in ((word, of(word)) for word in _WORD.findall(stem))
    )


def _is_telling(finding: Finding) -> bool:
    """Tell whether a finding in a name alone says who somebody is; one word needs more than the tagger."""
    if finding.bits & DIRECT or finding.bits >= NAMES or finding.entity_type is EntityType.DATE_OF_BIRTH:
        return True
    return bool(finding.bits & NAMES) and any(reason.detail != SOURCE for reason in finding.reasons)
