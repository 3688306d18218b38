"""What files are called: "Tremblay_Marie_echo.pdf" holds a report that names nobody, and everybody knows whose it is.

The names of a file, of the members of a container and of folders of patients are read like text. Where one of them
says who somebody is, all are put behind the text as segments of their own, so that what is found there has its place,
counts, and can be shown; of any other file neither text nor result changes.

A folder counts only below one that is called after patients ("Clients/Okafor, Chidi/plan.docx"): on a share most
folders with a person's name are those of staff.
"""  # noqa: E501 (a name and its story)

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from phiscan.classify.decision import DIRECT, NAMES
from phiscan.model import FILE_NAME, FOLDER_NAME, Document, EntityType, Finding, Segment, SourceFile
from phiscan.screen import Screener, screen
from phiscan.screen.gazetteer import Word, load_gazetteer
from phiscan.screen.tagger import SOURCE

MAX_NAMES = 200  # of the members of a container
_OF_PATIENTS = re.compile(
    r"(?:^|[\W\d_])(?:(?:in|out)?patient(?:e|es|s)?|clients?|clientes|residents?|residentes?|dossiers?|charts?|usagers?"
    r"|b[ée]n[ée]ficiaires?|case[ _-]?files?|(?:medical|health|patient)[ _-]?records)(?:$|[\W\d_])",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]?[^\W\d_A-Z]{2,}|[A-Z]{3,}|(?i:\b(?:mr|mrs|ms|mme|mlle|pt)\b)")
_LONG_NUMBER = re.compile(r"\d(?:[ ._-]?\d){5}")

Named = tuple[str, str]
"""A locator and the name that it stands for."""


def names_of(source: SourceFile) -> tuple[Named, ...]:
    """Return the name of a file, then the folders below one that is called after patients."""
    *folders, name = source.path.decode("utf-8", "replace").split("/")
    root = source.root.decode("utf-8", "replace").rstrip("/").rpartition("/")[2]
    above = [root, *folders]
    first = next((place for place, folder in enumerate(above, 1) if _OF_PATIENTS.search(folder)), len(above))
    return ((FILE_NAME, _shown(name)), *((FOLDER_NAME, _shown(folder)) for folder in above[first:]))


def with_names(document: Document, names: Iterable[Named]) -> Document:
    """Return the document with these names, and those of its members, behind its text."""
    lines = [*names, *_members(document)]
    text = document.text if document.text.endswith("\n") or not document.text else f"{document.text}\n"
    segments, pieces = list(document.segments), [text]
    start = len(text)
    for locator, name in lines:
        segments.append(Segment(locator, start, start + len(name)))
        pieces.append(f"{name}\n")
        start += len(name) + 1
    return replace(document, text="".join(pieces), segments=tuple(segments))


def name_somebody(document: Document, names: Iterable[Named], screener: Screener) -> bool:
    """Tell whether one of these names, or of those of the document's members, says who somebody is."""
    lines = [*names, *_members(document)]
    if not any(_may_name(name) for _, name in lines):
        return False
    alone = with_names(Document("", (), "text/plain"), lines)
    return any(_is_telling(finding) for finding in screen(alone, screener).counted)


def _members(document: Document) -> Iterator[Named]:
    """Yield each member of a container once, by what it is called."""
    seen: dict[str, None] = {}
    for segment in document.segments:
        way = segment.locator.partition("#")[0]
        if way and way not in seen:
            seen[way] = None
            if len(seen) > MAX_NAMES:
                return
            name = re.split(r"[/\\]", way)[-1]
            if name:
                yield f"{way}{FILE_NAME}", _shown(name)


def _shown(name: str) -> str:
    """Return a name on one line, in words: underscores are the blanks of file names."""
    return "".join(char if char.isprintable() else "\ufffd" for char in name.replace("_", " "))


def _may_name(name: str) -> bool:
    """Tell whether there is anything in a name but ordinary words and short numbers; most have no more."""
    stem = name.rpartition(".")[0] or name
    if _LONG_NUMBER.search(stem):
        return True
    of = load_gazetteer().of
    return any(not of(word) & Word.ORDINARY for word in _WORD.findall(stem))


def _is_telling(finding: Finding) -> bool:
    """Tell whether a finding in a name alone says who somebody is; one word needs more than the tagger."""
    if finding.bits & DIRECT or finding.bits >= NAMES or finding.entity_type is EntityType.DATE_OF_BIRTH:
        return True
    return bool(finding.bits & NAMES) and any(reason.detail != SOURCE for reason in finding.reasons)
