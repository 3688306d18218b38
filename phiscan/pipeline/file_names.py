"""What files are called: "Tremblay_Marie_echo.pdf" holds a report that names nobody, and everybody knows whose it is.

The names of the members of a container, of the file and of folders are read like text. They count in two
ways. Where one of them says who somebody is, they are put after the text as segments of their own, so that
what is found there has its place, counts, and can be shown; of any other file neither text nor result
changes. And they are judged by themselves (``judged_paths``): a path that names a person and says what was
done or found for this person's health refers the file whatever is in it, also if nothing could be read.
Members come first: they are the same in every copy, and so are their places.

For the text, a folder counts only below one that is called after patients ("Clients/Okafor, Chidi/plan.docx"):
on a share most folders with a person's name are those of staff. For the path alone every folder counts, but
for those below one of staff.
"""  # noqa: E501 (a name and its story)

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby, pairwise

from blake3 import blake3

from phiscan.config import data_dir
from phiscan.health.file_evidence import DIRECT, NAMES
from phiscan.lexicon.dictionary import load_dictionary
from phiscan.lexicon.gazetteer import Word, fold, load_gazetteer
from phiscan.model import FILE_NAME, FOLDER_NAME, Document, EntityType, Finding, Segment, SourceFile, Span
from phiscan.screen import Screener, screen
from phiscan.screen.ner.tagger import SOURCE

MAX_NAMES = 200  # of the members of a container, put after its text
MAX_TITLE_CHARS = 200
MAX_JUDGED = 2000  # of the members of a container, judged by themselves
_WORD = re.compile(r"[^\W\d_]?[^\W\d_A-Z]+|[A-Z]{2,}")
_LETTERS = re.compile(r"[^\W\d_]+")
# "MarieEcho" is two words, "MacLeod" is one.
_JOINED = re.compile(
    r"(?<=[^\W\d_A-Z])(?<!\bMc)(?<!\bMac)(?<!\bDe)(?<!\bDi)(?<!\bLa)(?<!\bLe)(?=[A-Z][^\W\d_A-Z])"
)
_PROCEDURE = re.compile(
    r"(?<!micro)(?<!spectro)(?<!tele)scop(?:y|ie)s?(?![^\W\d_])"
    r"|[^\W\d_]{2}(?:(?:ec|os)tom(?:y|ie)|plast(?:y|ie)|centesis|centèse|itis)(?![^\W\d_])",
    re.IGNORECASE,
)
_MIN_UNKNOWN = 3  # letters of a word that no list has
_LONG_NUMBER = re.compile(r"\d(?:[ ._-]?\d){5}")
_PLACE = re.compile(r"#[a-z]+[0-9]*(?:[!/][A-Za-z]+[0-9]*)*\Z")  # within a member; a name may hold "#", too
_RANGE = re.compile(r"(?:^|!/)bytes \d+-\d+\Z")  # a window of a large content has no name
_PATH = re.compile(r"[/\\]")

Named = tuple[str, str]
"""A locator and the file name that it represents."""


def names_of(source: SourceFile) -> tuple[Named, ...]:
    """Return the name of a file, then the folders below one that is called after patients."""
    return _named(source, _below_patients)


def path_of(source: SourceFile) -> tuple[Named, ...]:
    """Return the name of a file, then those of its folders that may be called after patients."""
    return _named(source, _folders_of_people)


def title_of(source: SourceFile) -> tuple[Named, ...]:
    """Return the name of a file, then those of all its folders, unless one of these is of staff."""
    return _named(source, lambda folders: () if _is_of_staff(folders) else folders)


def _named(source: SourceFile, chosen: Callable[[Sequence[Named]], Sequence[Named]]) -> tuple[Named, ...]:
    *folders, name = source.path.decode("utf-8", "replace").split("/")
    root = source.root.decode("utf-8", "replace").rstrip("/").rpartition("/")[2]
    return (FILE_NAME, _shown(name)), *chosen([(FOLDER_NAME, _shown(one)) for one in (root, *folders)])


def members_of(document: Document, most: int = MAX_NAMES) -> tuple[Named, ...]:
    """Return what the members of a container are called, the first ones of many, each once."""
    found: dict[Named, None] = {}
    for path in _member_paths(document):
        found.update(dict.fromkeys(name for part in path for name in (part[0], *_below_patients(part[1:]))))
        if len(found) >= most:
            break
    return tuple(found)[:most]


def _member_paths(document: Document) -> Iterator[tuple[tuple[Named, ...], ...]]:
    """Yield the way to each member: of each container on it and of the member, the name, then its folders."""
    locators = (*(segment.locator for segment in document.segments), *document.members)
    for way, _ in groupby(map(_member_of, locators)):
        if way:
            yield _names_on(way)


def _member_of(locator: str) -> str:
    """Return the locator of the member of a container that a place is in; "" = of the file itself."""
    return _RANGE.sub("", _PLACE.sub("", locator))


def _names_on(way: str) -> tuple[tuple[Named, ...], ...]:
    """Return the names on the way to a member: of each container and of the member, then its folders."""
    above, path = "", []
    for part in way.split("!/"):
        above = f"{above}!/{part}" if above else part
        *folders, name = _PATH.split(part)
        inside = ((f"{above}{FOLDER_NAME}", _shown(folder)) for folder in folders)
        path.append(((f"{above}{FILE_NAME}", _shown(name)), *inside))
    return tuple(path)


def title_line(names: Sequence[Named]) -> str:
    """Return names, that of the file first, as a line: folders, then the file."""
    return " / ".join(name for _, name in (*names[1:], names[0]) if name)[-MAX_TITLE_CHARS:]


def titled_parts(document: Document, title: Sequence[Named]) -> Iterator[tuple[int, int, tuple[Named, ...]]]:
    """Yield begin and end of the text of a file or of each of its members, with the names that it lies under.

    ``title``: what ``title_of`` returns for the file.
    """
    for way, segments in groupby(document.segments, key=lambda segment: _member_of(segment.locator)):
        first, *others = segments
        inside = _names_on(way) if way else ()
        yield first.start, (others or [first])[-1].end, (*title, *(name for part in inside for name in part))


def judged_paths(document: Document, path: Sequence[Named]) -> tuple[tuple[Named, ...], ...]:
    """Return the names that are judged together: the path of the file, and with it that of each member.

    ``path``: what ``path_of`` returns for the file.
    """
    found: dict[tuple[Named, ...], None] = {tuple(path): None}
    for way in _member_paths(document):
        names = [name for part in way for name in (part[0], *_folders_of_people(part[1:]))]
        found[*names, *path] = None
        if len(found) > MAX_JUDGED:
            break
    return tuple(found)


def all_names(paths: Sequence[Sequence[Named]]) -> tuple[Named, ...]:
    """Return the names of judged paths, each once, those of the file itself last."""
    own = dict.fromkeys(paths[0])
    return (*dict.fromkeys(name for path in paths for name in path if name not in own), *own)


def unread_document(source: SourceFile, members: Sequence[str] = ()) -> Document:
    """Return the document of a file that was not read: its names; its content hash is that of the names.

    ``members``: locators of what is in it, as far as these are known.
    """
    bare = Document("", (), "", members=tuple(members))
    named = with_names(bare, all_names(judged_paths(bare, path_of(source))))
    return replace(named, content_hash=blake3(b"names\0" + named.text.encode()).hexdigest())


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
    if not any(map(may_name, names)):
        return False
    alone = with_names(Document("", (), "text/plain"), names)
    return any(_is_telling(finding) for finding in screen(alone, screener).counted)


def place_in(named: Document, document: Document, span: Span) -> Span | None:
    """Return a place in the names after one document as that in another; None where it has no such name."""
    inner = next(one for one in document.segments if one.start <= span.start < one.end)
    name = document.text[inner.start : inner.end]
    for outer in reversed(named.segments):
        if outer.locator == inner.locator and named.text[outer.start : outer.end] == name:
            shift = outer.start - inner.start
            return Span(span.start + shift, min(span.end + shift, outer.end))
    return None


def as_examined(document: Document, source: SourceFile, n_chars: int) -> Document:
    """Return a document that was read again with the names that stood after its text when it was examined.

    ``n_chars``: the length of the text that was examined; each choice of names has another.
    """
    names, members = names_of(source), members_of(document)
    judged = all_names(judged_paths(document, path_of(source)))
    for some in ((), names, members, (*members, *names), judged):
        named = with_names(document, some)
        if len(named.text) == n_chars:
            return named
    return document


def has_word_of_care(names: Sequence[Named]) -> bool:
    """Tell whether a name has a word of what is done or found for somebody's health: "results", "-ectomy"."""
    return any(_has_word(name, "care") or _PROCEDURE.search(name) for _, name in names)


def is_of_others(names: Sequence[Named]) -> bool:
    """Tell whether a file is called as one about no patient: a paper, a contract, test data, a program.

    In the name of a file one word suffices; a folder is called so by its whole name.
    """
    of_folders = path_words()["other"] | path_words()["code"]
    return any(
        fold(name).strip() in of_folders if locator.endswith(FOLDER_NAME) else _has_word(name, "other")
        for locator, name in names
    )


def _has_word(name: str, kind: str) -> bool:
    words = [fold(word) for word in _LETTERS.findall(name)]
    return not path_words()[kind].isdisjoint((*words, *map(" ".join, pairwise(words))))


@cache
def path_words() -> Mapping[str, frozenset[str]]:
    """Return the words of ``dictionaries/path_words.txt`` by kind.

    Raises:
        DictionaryError: the list cannot be read.
    """
    found: defaultdict[str, set[str]] = defaultdict(set)
    for word, kind in load_dictionary(data_dir("dictionaries") / "path_words.txt").rows:
        found[kind].add(word)
    return {kind: frozenset(words) for kind, words in found.items()}


def _below_patients(folders: Sequence[Named]) -> Sequence[Named]:
    return folders[_patients_at(folders) + 1 :]


def _folders_of_people(folders: Sequence[Named]) -> Sequence[Named]:
    """Return the folders from one of patients on; without one all, unless one is of staff."""
    return folders[_patients_at(folders) :] or (() if _is_of_staff(folders) else folders)


def _is_of_staff(folders: Sequence[Named]) -> bool:
    return any(_has_word(name, "staff") for _, name in folders)


def _patients_at(folders: Sequence[Named]) -> int:
    """Return which folder is called after patients; the number of folders if none is."""
    return next((at for at, (_, name) in enumerate(folders) if _has_word(name, "patients")), len(folders))


def _shown(name: str) -> str:
    """Return a name on one line, in words and composed letters, as text has them.

    In some file systems it may hold anything; underscores are the blanks of file names.
    """
    words = unicodedata.normalize("NFC", name.replace("_", " ").replace("%20", " "))
    return _JOINED.sub(" ", "".join(char if char.isprintable() else "\ufffd" for char in words))


def may_name(named: Named) -> bool:
    """Tell whether a name holds a word that may be somebody's, or a long number, and none of other papers."""
    stem = named[1].rpartition(".")[0] or named[1]
    if _has_word(stem, "other"):
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
