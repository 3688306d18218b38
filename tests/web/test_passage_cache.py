"""Masked passages in memory: bounded, gone after sign-out, and read at once of small files only."""

import os
from dataclasses import replace
from pathlib import Path

from fastapi import FastAPI

from phiscan.bounded_cache import BoundedCache
from phiscan.model import SourceFile
from phiscan.pipeline.rereading.masked_passages import MaskedProse
from phiscan.review.store import Store
from phiscan.web.request_context import Desk
from phiscan.web.routes.reveal import INLINE_BYTES, INLINE_FINDINGS, is_quick
from tests.review.results import NOW
from tests.web.conftest import Visit


def test_a_cache_is_bounded_by_entries_and_by_size() -> None:
    cache = BoundedCache[int, str](10, 3)
    for number in range(5):
        cache.put(number, "", 1)
    assert [number in cache for number in range(5)] == [False, False, True, True, True]
    assert cache.get(2) is not None  # used last: it stays longest
    cache.put(9, "", 8)
    assert [number in cache for number in (2, 3, 4, 9)] == [True, False, True, True]
    cache.put(10, "", 11)
    assert len(cache) == 0


def test_signing_out_forgets_what_was_looked_at(app: FastAPI, browser: Visit, tmp_path: Path) -> None:
    desk: Desk = app.state.desk
    someone = browser("reviewer")
    source = SourceFile(os.fsencode(tmp_path), b"letter.txt", 0, 0, 0, 0, 0)
    desk.passages.put(("d", 7, 0), (source, MaskedProse("d", 16, ())), 1)
    assert someone.post("/sign-out").status_code == 303
    assert len(desk.passages) == 0


def test_a_page_waits_for_the_passages_of_a_small_file_only(store: Store) -> None:
    first = store.desk.items(viewer="ana", now=NOW).items[0]
    detail = store.desk.detail(first.file_id, viewer="ana", now=NOW)
    for size, n_findings, expected in (
        (INLINE_BYTES, INLINE_FINDINGS, True),
        (INLINE_BYTES + 1, 1, False),
        (1_000, INLINE_FINDINGS + 1, False),
        (1_000, 0, True),  # of a blind item the number is not known
    ):
        source = replace(detail.source, size=size)
        changed = replace(detail, source=source, n_findings=n_findings, media_type="text/plain")
        assert is_quick(changed) is expected, (size, n_findings)
