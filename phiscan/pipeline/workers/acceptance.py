"""Validation of workers' results: a file and its result in, the result or a failure of the file out.

A worker that was taken over may return any values of the right types. The scanning process puts in the file
that it sent, and rejects results that would be recorded as a value, count for another file or stop the scan.
Whether a result is true cannot be checked.
"""

from __future__ import annotations

import re
from dataclasses import replace

from phiscan.model import FailReason, FileResult, Outcome, SourceFile
from phiscan.pipeline.processed import Processed
from phiscan.store.identity import is_shape

DETAIL = "not a result of this file"
_HASH = re.compile(r"[0-9a-f]{64}")
_STAGE = re.compile(r"[a-z_]{1,30}")
_MOST_TEXT = 100_000  # characters of a locator or detail


def accepted(source: SourceFile, answer: Processed) -> Processed:
    """Return the answer about a file that was given to a worker, with the file as it was given."""
    result = answer.result
    is_timed = all(_STAGE.fullmatch(stage) and seconds >= 0 for stage, seconds in answer.seconds)
    if not is_timed or not _is_possible(source, result):
        return Processed(FileResult(source, Outcome.FAILED, reason=FailReason.CRASHED, detail=DETAIL), ())
    return replace(answer, result=replace(result, source=source))


def _is_possible(source: SourceFile, result: FileResult) -> bool:
    if (result.source.root, result.source.path) != (source.root, source.path):
        return False
    if result.outcome is Outcome.FAILED:
        return result.reason in tuple(FailReason) and not result.findings and _is_short(result.detail)
    return (
        result.outcome is Outcome.SCREENED
        and not result.reason
        and _HASH.fullmatch(result.content_hash) is not None
        and (not result.is_copy or f"{result.content_hash} {result.media_type}" in source.duplicates)
        and _is_short(result.detail, result.media_type)
        and all(
            is_shape(one.preview) and _HASH.fullmatch(one.identity) and _is_short(one.locator)
            for one in result.findings
        )
        and all(_is_short(one.locator, one.detail) for one in result.unread)
    )


def _is_short(*texts: str) -> bool:
    return all(len(text) <= _MOST_TEXT for text in texts)
