"""Validation of workers' results: a file and its result in, the result or a failure of the file out.

A worker that was taken over may return any values of the right types. The scanning process puts in the file
that it sent, drops details and names that are no technical ones, and rejects results that would be recorded
as a value, count for another file or stop the scan. Whether a result is true cannot be checked. Text of a
worker's choice remains in locators, and, bounded, in the names of rules, labels, sensitivity labels and
health concepts.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from phiscan.formats.sensitivity_labels import MOST_LABELS, is_label
from phiscan.model import FailReason, FileResult, Outcome, PatientCheck, Reason, SourceFile, StoredFinding
from phiscan.sandbox.answers import technical
from phiscan.store.identity import MOST_WORDS, N_WORD_BYTES, is_shape

DETAIL = "not a result of this file"
_HASH = re.compile(r"[0-9a-f]{64}")
_LANGUAGE = re.compile(r"[a-z]{0,8}")
_STAGE = re.compile(r"[a-z_]{1,30}")
_MEDIA_TYPE = re.compile(r"[\w./+-]{0,100}")
# Of a rule, label or concept: a site names them as it likes, so another name is dropped, and not its file.
_NAME = re.compile(r"(?:[\w:.(°@*][\w:./() '\u2019#&+°º@*%|-]{0,299}|\([0-9A-Fa-f]{4},[0-9A-Fa-f]{4}\))?")
_MOST_TEXT = 100_000  # characters of a locator


def accepted(source: SourceFile, result: FileResult) -> FileResult:
    """Return the result of a file that was given to a worker, with the file as it was given."""
    is_timed = all(_STAGE.fullmatch(stage) and seconds >= 0 for stage, seconds in result.seconds)
    if not is_timed or not _is_possible(source, result):
        return FileResult(source, Outcome.FAILED, reason=FailReason.CRASHED, detail=DETAIL)
    return _without_text(replace(result, source=source))


def _without_text(result: FileResult) -> FileResult:
    """Drop details and names that the program cannot have given."""
    changed: dict[str, Any] = {
        name: tuple(pair for pair in getattr(result, name) if technical(pair[0]))
        for name in ("reasons", "evidence", "detectors", "detector_probabilities", "finding_counts")
    }
    texts = ("detail", "case", "nearest_prototype", "health_prototype")
    changed |= {name: technical(getattr(result, name)) for name in texts}
    unread = tuple(replace(part, detail=technical(part.detail)) for part in result.unread)
    findings = tuple(map(_with_names, result.findings))
    terms = tuple(replace(one, concept=_name(one.concept)) for one in result.terms)
    return replace(result, unread=unread, findings=findings, terms=terms, **changed)


def _with_names(finding: StoredFinding) -> StoredFinding:
    reasons = tuple(Reason(_name(one.kind), _name(one.detail), one.score) for one in finding.reasons)
    return replace(finding, source=_name(finding.source), reasons=reasons)


def _name(text: str) -> str:
    return text if _NAME.fullmatch(text) else ""


def _is_possible(source: SourceFile, result: FileResult) -> bool:
    if (result.source.root, result.source.path) != (source.root, source.path):
        return False
    if result.outcome is Outcome.SCREENED:
        is_read = not result.reason and not source.unopened
    elif result.outcome is Outcome.SKIPPED:
        is_read = result.reason == source.unopened != ""
    else:
        is_read = result.outcome is Outcome.FAILED and result.reason in tuple(FailReason)
    is_judged = result.outcome is Outcome.SCREENED or result.by_name
    return (
        is_read
        and (_HASH.fullmatch(result.content_hash) is not None if is_judged else not result.findings)
        and (not result.is_copy or f"{result.content_hash} {result.media_type}" in source.duplicates)
        and _MEDIA_TYPE.fullmatch(result.media_type) is not None
        and _LANGUAGE.fullmatch(result.language) is not None
        and len(result.labels) <= MOST_LABELS
        and all(map(is_label, result.labels))
        and all(
            is_shape(one.preview)
            and _HASH.fullmatch(one.identity)
            and len(one.words) <= N_WORD_BYTES * MOST_WORDS
            and len(one.locator) <= _MOST_TEXT
            for one in result.findings
        )
        and all(len(one.locator) <= _MOST_TEXT for one in result.unread)
        and all(len(one.locator) <= _MOST_TEXT for one in result.terms)
        and (result.window is None or _are_names(*(name for name, _ in result.window.counts)))
        and (result.patients is None or _is_possible_check(result.patients))
    )


def _is_possible_check(check: PatientCheck) -> bool:
    return _are_names(check.index_id) and all(
        _are_names(one.kind) and len(one.locator) <= _MOST_TEXT for one in check.matches
    )


def _are_names(*texts: str) -> bool:
    return all(_name(text) == text for text in texts)
