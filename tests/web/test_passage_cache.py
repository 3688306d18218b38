"""Masked passages in memory: only for the content that they were made from, bounded, gone after sign-out."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from fastapi import FastAPI

from phiscan.model import SourceFile
from phiscan.pipeline.rereading.file_lookup import present
from phiscan.pipeline.rereading.masked_passages import Kind, MaskedPassage, MaskedPiece, MaskedProse
from phiscan.review.store import Store
from phiscan.web.passage_cache import PassageCache
from phiscan.web.request_context import Desk
from phiscan.web.routes.reveal import INLINE_BYTES, INLINE_FINDINGS, is_quick
from tests.review.results import NOW
from tests.web.conftest import OWN, Browser


def prose(n_pieces: int = 1, digest: str = "d") -> MaskedProse:
    pieces = (MaskedPiece(Kind.TEXT, "seen with asthma"),) * n_pieces
    return MaskedProse(digest, 16, (MaskedPassage("#line1", 0, 16, pieces),))


@pytest.fixture
def lying(tmp_path: Path) -> SourceFile:
    (tmp_path / "letter.txt").write_text("seen with asthma")
    found = present(SourceFile(os.fsencode(tmp_path), b"letter.txt", 0, 0, 0, 0, 0))
    assert found is not None
    return found


def test_passages_are_kept_for_their_content_and_examination(lying: SourceFile) -> None:
    cache = PassageCache()
    cache.put(("d", 7, 0), lying, prose())
    assert cache.get(("d", 7, 0), lying) == prose()
    assert cache.has(("d", 7, 0))
    for other in (("e", 7, 0), ("d", 8, 0), ("d", 7, 4000)):
        assert cache.get(other, lying) is None
        assert not cache.has(other)


def test_a_file_that_was_touched_or_is_gone_is_not_answered_from_memory(
    lying: SourceFile, tmp_path: Path
) -> None:
    cache = PassageCache()
    cache.put(("d", 7, 0), lying, prose())
    (tmp_path / "letter.txt").write_text("seen with asthma today")
    assert cache.get(("d", 7, 0), lying) is None
    (tmp_path / "letter.txt").unlink()
    assert cache.get(("d", 7, 0), lying) is None
    cache.put(("gone", 9, 0), None, prose())
    assert not cache.has(("gone", 9, 0))


def test_the_memory_is_bounded_by_files_and_by_pieces(lying: SourceFile) -> None:
    cache = PassageCache(max_files=3, max_pieces=10)
    for number in range(5):
        cache.put(("d", number, 0), lying, prose())
    assert [cache.has(("d", number, 0)) for number in range(5)] == [False, False, True, True, True]
    assert cache.get(("d", 2, 0), lying) is not None  # used last: it stays longest
    cache.put(("d", 9, 0), lying, prose(8))
    assert [cache.has(("d", number, 0)) for number in (2, 3, 4, 9)] == [True, False, True, True]
    cache.put(("d", 10, 0), lying, prose(11))
    assert len(cache) == 0


def test_signing_out_forgets_what_was_looked_at(
    app: FastAPI, browser: Callable[[str], Browser], lying: SourceFile
) -> None:
    desk: Desk = app.state.desk
    someone = browser("reviewer")
    desk.passages.put(("d", 7, 0), lying, prose())
    assert someone.client.post("/sign-out", headers=OWN).status_code == 303
    assert len(desk.passages) == 0


@pytest.mark.parametrize(
    ("size", "n_findings", "expected"),
    [
        (INLINE_BYTES, INLINE_FINDINGS, True),
        (INLINE_BYTES + 1, 1, False),
        (1_000, INLINE_FINDINGS + 1, False),
        (1_000, 0, True),  # of a blind item the number is not known
    ],
)
def test_a_page_waits_for_the_passages_of_a_small_file_only(
    store: Store, size: int, n_findings: int, expected: bool
) -> None:
    first = store.desk.items(viewer="ana", now=NOW).items[0]
    detail = store.desk.detail(first.file_id, viewer="ana", now=NOW)
    source = replace(detail.source, size=size)
    changed = replace(detail, source=source, n_findings=n_findings, media_type="text/plain")
    assert is_quick(changed) is expected
