"""Reading a file again for a person who may see its text: confined, checked, and in memory only.

The file is opened read-only where it lies and read by a confined process, like in a scan. Its content must
be what was examined, byte for byte; otherwise nothing is shown. Nothing is written: not the text, not where
it lay. Recording the reveal comes first (``Desk.reveal``), so that there is no text without a record. Of some
pictures in which text was recognized the image and the boxes of its words are sent to the person who asked.

What the rules matched and refused is not kept by a scan: it is found again with the rules of today, and only
type, rule, why, place and shape leave the confined process.
"""

from __future__ import annotations

import gc
import os
import secrets
import stat
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Self, TypeVar

from phiscan import extract
from phiscan.config import Config, Limits, PatientsTable
from phiscan.crawl import is_url
from phiscan.errors import ConflictError, ExtractError, InputError
from phiscan.extract.core.content import clean
from phiscan.extract.ocr.layout import SeenPicture, logged_pictures, word_spans
from phiscan.health.term_lexicon import load_lexicon
from phiscan.model import Document, EntityType, FileResult, Reason, Segment, SourceFile
from phiscan.pipeline.engine import Engine, build_engine
from phiscan.pipeline.file_names import as_examined, unread_document
from phiscan.pipeline.passwords import read_passwords
from phiscan.pipeline.process import process
from phiscan.pipeline.rereading.allow_list import load_allow_list
from phiscan.pipeline.rereading.masked_passages import Found, MaskedProse, masked_prose
from phiscan.pipeline.workers.delivery import Delivery
from phiscan.pipeline.workers.file_handoff import FileHandoff
from phiscan.review.decisions.writing import Examined
from phiscan.sandbox.answers import Fault
from phiscan.sandbox.delivered_files import ask_at
from phiscan.sandbox.pool import Sandbox
from phiscan.sandbox.service import program_service
from phiscan.screen.rules.definitions import load_sound_rules
from phiscan.screen.rules.recognizer import PatternRecognizer, Refused
from phiscan.store.identity import shape
from phiscan.visible import visible

MAX_SHOWN = 8  # pictures of one reveal
MAX_STORED = 50  # told of one file; a table of numbers has thousands
_PRELOAD = ("phiscan.pipeline.rereading.reveal",)


@dataclass(frozen=True, slots=True)
class Veto:
    """One match that is no finding."""

    entity_type: EntityType
    rule: str
    reasons: tuple[Reason, ...]  # the last one refused it
    locator: str
    start: int
    preview: str  # the shape of the value


@dataclass(frozen=True, slots=True)
class Vetoes:
    """The first vetoed matches of a file in text order, and how many there are in all."""

    content_hash: str
    first: tuple[Veto, ...]
    n: int


def vetoes(document: Document, recognizer: PatternRecognizer) -> Vetoes:
    """Gather what the rules matched and refused; the same rule at the same place counts once."""
    refused = {
        (one.span.start, one.span.end, one.rule, one.entity_type): one
        for one in recognizer.weigh(document)
        if isinstance(one, Refused)
    }
    ordered = sorted(refused.items(), key=lambda item: item[0])
    first = tuple(
        Veto(
            entity_type=one.entity_type,
            rule=one.rule,
            reasons=one.reasons,
            locator=document.locate(one.span.start),
            start=one.span.start,
            preview=shape(one.span.of(document.text)),
        )
        for _, one in ordered[:MAX_STORED]
    )
    return Vetoes(document.content_hash, first, len(ordered))


@dataclass(frozen=True, slots=True)
class WordBox:
    """A word by its place ``[start, end)`` in the document's text, and its box in pixels of the picture."""

    start: int
    end: int
    left: int
    top: int
    right: int
    bottom: int


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A picture as JPEG, the stretch of text that was recognized in it, and the boxes of its words."""

    locator: str
    start: int
    end: int
    width: int
    height: int
    jpeg: bytes = field(repr=False)
    words: tuple[WordBox, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class ShownFile:
    """A document with its pictures from a place on."""

    document: Document
    pictures: tuple[PagePicture, ...]
    n_pictures: int  # of the whole file

    @property
    def content_hash(self) -> str:
        """Digest of the content."""
        return self.document.content_hash


def read_shown(source: SourceFile, limits: Limits, passwords: Sequence[str], start: int) -> ShownFile:
    """Read a file again and return it with the pictures whose text is at ``start`` or after it.

    Raises:
        ExtractError: the file gives nothing at all.
    """
    with logged_pictures() as log:
        document = extract.extract(source, limits, passwords)
    placed = list(_placed(document, log.pictures))
    chosen = [one for one in placed if one.end > start or one.start >= start][:MAX_SHOWN]
    return ShownFile(document, tuple(chosen), len(placed))


def _placed(document: Document, pictures: Iterable[SeenPicture]) -> Iterator[PagePicture]:
    """Find the stretch of the document that each picture gave; one that gave none is at the end before it."""
    segments = document.segments
    at = reached = 0
    for picture in pictures:
        text = clean(picture.text)
        found: Segment | None = None
        if text.strip():
            for later in range(at, len(segments)):
                one = segments[later]
                if one.locator == picture.place and document.text[one.start : one.end] == text:
                    found, at = one, later + 1
                    break
            else:
                continue  # the text was cut
        start, end = (found.start, found.end) if found else (reached, reached)
        reached = end
        spans = word_spans(text, picture.words)
        yield PagePicture(
            picture.place,
            start,
            end,
            picture.width,
            picture.height,
            picture.jpeg,
            tuple(
                WordBox(start + span[0], start + span[1], word.left, word.top, word.right, word.bottom)
                for word, span in zip(picture.words, spans, strict=True)
                if span is not None
            )
            if found
            else (),
        )


RevealResult = TypeVar("RevealResult", Document, Vetoes, MaskedProse, ShownFile, FileResult)


class Rereader:
    """Reads files again, one at a time; its process is started when it is first needed.

    A file may take as long as the limits of the configuration allow, then its process is ended.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._lock = threading.Lock()
        self._open = ExitStack()
        self._sandbox: Sandbox | None = None
        self._delivery: Delivery | None = None

    def __enter__(self) -> Self:
        """Start nothing yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.close()

    def close(self) -> None:
        """End the process, and hang up."""
        with self._lock:
            self._open.close()
            self._sandbox = self._delivery = None

    @property
    def is_ready(self) -> bool:
        """Whether a file can be read now without waiting for the process to start or for another file."""
        return self._sandbox is not None and not self._lock.locked()

    def prepare(self) -> None:
        """Start the process and load its word lists, so that the first file need not wait for them.

        Raises:
            PhiscanError: the process cannot be started, or a list is unusable.
        """
        with self._lock:
            sandbox, _ = self._started()
            for _, answer in sandbox.run(_load, [""]):
                if isinstance(answer, Fault):
                    message = f"reading files again is not ready: {answer.reason}"
                    raise InputError(message)

    def read(self, examined: Examined) -> Document:
        """Return the text of a file as it was examined; nobody keeps it but the caller.

        Raises:
            ConflictError: the file has changed since it was examined, or is not there any more.
            InputError: it cannot be read now; says why.
        """
        job = partial(_work, content_hash=examined.content_hash)
        return as_examined(self._ask(job, examined), examined.source, examined.n_chars)

    def read_shown(self, examined: Examined, *, start: int = 0) -> ShownFile:
        """Return a file's text, and from a place on the pictures that it was recognized in; see ``read``."""
        shown = self._ask(partial(_show, content_hash=examined.content_hash, start=start), examined)
        return replace(shown, document=as_examined(shown.document, examined.source, examined.n_chars))

    def vetoes(self, examined: Examined) -> Vetoes:
        """Return what the rules match in a file and refuse, without its text; see ``read``."""
        return self._ask(partial(_weigh, content_hash=examined.content_hash), examined)

    def result(self, examined: Examined) -> FileResult:
        """Return what every recognizer finds in a file, but for the organization's patients; see ``read``."""
        return self._ask(_examine, examined)

    def masked(self, examined: Examined, found: Sequence[Found], *, beginning: int = 0) -> MaskedProse:
        """Return the strongest passages of a file as masked prose; the values stay in the confined process.

        ``found`` and ``beginning``: see ``masked_prose``. Raises what ``read`` does.
        """
        return self._ask(partial(_mask, examined=examined, found=tuple(found), beginning=beginning), examined)

    def _ask(self, job: Callable[[SourceFile], RevealResult], examined: Examined) -> RevealResult:
        with self._lock:
            sandbox, delivery = self._started()
            # Of a file that is gone, whoever opens it says so.
            source = present(examined.source) or examined.source
            answers = [answer for _, answer in delivery.run(sandbox, job, [source])]
        name = visible(examined.source.display)
        answer = answers[0]
        if isinstance(answer, Fault):
            if answer.reason == "changed":
                raise ConflictError(
                    name, "the file has changed since it was examined, or is gone; it is not shown"
                )
            raise InputError(name, f"cannot be read now: {answer.reason}")
        if answer.content_hash != examined.content_hash:
            raise ConflictError(name, "the file has changed since it was examined; it is not shown")
        return answer

    def _started(self) -> tuple[Sandbox, Delivery]:
        if self._sandbox is None or self._delivery is None:
            handoff = self._open.enter_context(FileHandoff([program_service(self._config.limits)]))
            self._delivery = self._open.enter_context(Delivery(self._config, handoff))
            arguments = (self._config.for_workers(), read_passwords(self._config), handoff.address)
            self._sandbox = self._open.enter_context(
                Sandbox(1, self._config.limits, _start_worker, arguments, preload=_PRELOAD)
            )
        return self._sandbox, self._delivery


def present(source: SourceFile) -> SourceFile | None:
    """Return a file of this machine as it lies there now; None when it is gone, or is no file any more.

    A file of a share that is not mounted is returned as it was examined: whoever fetches it asks the share.
    """
    if is_url(source.root):
        return source
    try:
        info = os.lstat(source.absolute)
    except OSError:
        return None
    return SourceFile.of(source.root, source.path, info) if stat.S_ISREG(info.st_mode) else None


class _Worker:
    """What the confined process reads with; empty in the parent."""

    config = Config()
    passwords: Sequence[str] = ()


def _start_worker(config: Config, passwords: Sequence[str], handoff: str) -> None:
    ask_at(handoff)
    _Worker.config, _Worker.passwords = config, passwords


def _load(_: str) -> None:
    load_lexicon()
    load_allow_list()
    # The lists live as long as the process: a collection that looked at them took 0.3 s of some file.
    gc.collect()
    gc.freeze()


def _work(source: SourceFile, *, content_hash: str) -> Document:
    """Read a file again; of one that was judged by its names alone, return these."""
    named = unread_document(source)
    if named.content_hash == content_hash:
        return named
    try:
        return extract.extract(source, _Worker.config.limits, _Worker.passwords)
    except ExtractError as error:
        named = unread_document(source, error.members)
        if named.content_hash != content_hash:
            raise
        return named


def _show(source: SourceFile, *, content_hash: str, start: int) -> ShownFile:
    if unread_document(source).content_hash != content_hash:
        with suppress(ExtractError):
            return read_shown(source, _Worker.config.limits, _Worker.passwords, start)
    return ShownFile(_work(source, content_hash=content_hash), (), 0)


def _mask(source: SourceFile, *, examined: Examined, found: Sequence[Found], beginning: int) -> MaskedProse:
    document = as_examined(_work(source, content_hash=examined.content_hash), source, examined.n_chars)
    return masked_prose(document, found, beginning=beginning)


def _examine(source: SourceFile) -> FileResult:
    return process(source, _engine())


@cache
def _engine() -> Engine:
    """Return the stages; the hashes of what they find are by a key of their own, and compare with none."""
    config = replace(_Worker.config, patients=PatientsTable(), audit_share=1.0)  # every recognizer
    return replace(build_engine(config, secrets.token_bytes(32)), passwords=tuple(_Worker.passwords))


def _weigh(source: SourceFile, *, content_hash: str) -> Vetoes:
    return vetoes(_work(source, content_hash=content_hash), _patterns())


@cache
def _patterns() -> PatternRecognizer:
    return PatternRecognizer(load_sound_rules(_Worker.config))
