"""A batch of files read on a worker of the cluster: each result belongs to its file, in whatever order."""

from collections.abc import Iterator

import pytest

from phiscan.cluster import reading
from phiscan.cluster.pickling import Batch
from phiscan.model import FileResult, Outcome, SourceFile


class Shuffled:
    """Workers whose answers come in reverse order."""

    def run(self, sources: Iterator[SourceFile]) -> Iterator[tuple[SourceFile, FileResult]]:
        for source in reversed(list(sources)):
            yield source, FileResult(source, Outcome.SCREENED, detail=source.display)


@pytest.mark.parametrize("n_files", [0, 1, 7])
def test_results_are_in_the_order_of_the_batch(n_files: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_workers_for", lambda *_: Shuffled())
    sources = tuple(
        SourceFile(b"smb://srv/share", f"{number}.txt".encode(), 1, 0, 0, 0, 0, owner=f"owner {number}")
        for number in range(n_files)
    )
    reply = reading._read(Batch("key", None, ((b"smb://srv/share", 0),), sources))
    assert [one.detail for _, one in reply.answers] == [one.display for one in sources]
    assert [seen.owner for seen, _ in reply.answers] == [one.owner for one in sources]
