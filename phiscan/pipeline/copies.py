"""Equal contents within a running scan: the first is screened, the others wait for it.

Two files of one size may be copies; which they are, only their bytes tell. A file whose size was screened
before carries the contents of that size, each as hash and media type, in ``SourceFile.duplicates``: the
worker hashes it, and screens it only if it is none of them. (The media type depends on the name too: a table
called .txt is read as text.) A file whose size is being screened right now waits for that answer. A file is
compared only with those before it in the crawl: results are recorded in that order, a copy after its first.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from phiscan.model import FileResult, Outcome, SourceFile

MIN_BYTES = 64  # anything shorter is screened as fast as it is hashed
MAX_WAITING = 100  # files of one size that wait; with more of them, the workers would stand idle
MAX_NAMED = 3  # results for a file's own name that others of its size wait for in vain; then none waits
MAX_REMEMBERED = 10_000  # sizes and results remembered

T = TypeVar("T")
PendingCopies = Callable[[Sequence[int]], Mapping[int, tuple[str, ...]]]


class Copies:
    """Gives files their possible duplicates, and keeps back those whose twin is being screened.

    ``find`` returns by size the contents that were screened before.
    """

    def __init__(self, find: PendingCopies) -> None:
        self._find = find
        self._stored: Mapping[int, tuple[str, ...]] = {}
        self._running: dict[int, int] = {}  # size -> files of it with the workers
        self._waiting: dict[int, deque[SourceFile]] = {}  # size -> files kept back
        self._free: deque[SourceFile] = deque()  # no longer kept back
        # size -> contents of this run, each with the place in the crawl of the file that has it
        self._recent: OrderedDict[int, tuple[tuple[int, str], ...]] = OrderedDict()
        self._various: OrderedDict[int, None] = OrderedDict()  # sizes that several contents share
        self._named: OrderedDict[int, int] = OrderedDict()  # size -> results that stand for no other file
        self._places: dict[tuple[bytes, bytes], int] = {}  # of the files that were admitted and not settled
        self._n_admitted = 0

    def look_up(self, sizes: Sequence[int]) -> None:
        """Fetch what is stored for the files that come next."""
        wanted = [size for size in sizes if size >= MIN_BYTES]
        self._stored = self._find(wanted) if wanted else {}

    def admit(self, source: SourceFile) -> SourceFile | None:
        """Return the file as it goes to the workers; None when it waits for one of its size."""
        size = source.size
        if size < MIN_BYTES:
            return source
        self._n_admitted += 1
        self._places[source.root, source.path] = self._n_admitted
        if self._running.get(size) and size not in self._various:
            waiting = self._waiting.setdefault(size, deque())
            if len(waiting) < MAX_WAITING:
                waiting.append(source)
                return None
        self._running[size] = self._running.get(size, 0) + 1
        return self._with_same_contents(source)

    def record(self, result: FileResult) -> None:
        """Note the answer about a file, and free the next one that waited for it."""
        size = result.source.size
        place = self._places.pop((result.source.root, result.source.path), None)
        if place is None:  # too short, or not opened
            return
        left = self._running.get(size, 1) - 1
        if left:
            self._running[size] = left
        else:
            self._running.pop(size, None)
        if result.outcome is Outcome.SCREENED and not result.is_of_content:
            named = self._named.get(size, 0) + 1
            _remember(self._named, size, named)
            if named > MAX_NAMED:
                _remember(self._various, size, None)
        elif result.outcome is Outcome.SCREENED and not result.is_copy:
            before = self._recent.get(size, ())
            _remember(self._recent, size, (*before, (place, f"{result.content_hash} {result.media_type}")))
            if before:
                _remember(self._various, size, None)  # one size, many contents: waiting gains nothing
        waiting = self._waiting.get(size)
        if not waiting:
            return
        if size in self._various:
            self._free.extend(waiting)
            waiting.clear()
        else:
            self._free.append(waiting.popleft())
        if not waiting:
            del self._waiting[size]

    def freed(self) -> Iterator[SourceFile]:
        """Yield the files that need wait no longer, with what is known now."""
        while self._free:
            source = self._free.popleft()
            self._running[source.size] = self._running.get(source.size, 0) + 1
            yield self._with_same_contents(source)

    @property
    def is_waiting(self) -> bool:
        """Whether files are kept back or were freed and not yet taken."""
        return bool(self._free or self._waiting)

    def _with_same_contents(self, source: SourceFile) -> SourceFile:
        place = self._places[source.root, source.path]
        recent = (content for first, content in self._recent.get(source.size, ()) if first < place)
        known = dict.fromkeys((*recent, *self._stored.get(source.size, ())))
        return replace(source, duplicates=tuple(known)) if known else source


def _remember(kept: OrderedDict[int, T], size: int, value: T) -> None:
    kept[size] = value
    kept.move_to_end(size)
    if len(kept) > MAX_REMEMBERED:
        kept.popitem(last=False)
