"""The summary of a scan about its cascade (skipped files, estimated misses) and its slowest files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from phiscan.metrics.cascade import CascadeLoss, Missed, cascade_loss
from phiscan.review.records.slowest import SlowFile
from phiscan.visible import visible

# Displayed names of the stages, and the property of a file that makes each long.
_STAGES = {
    "extract": "reading it",
    "screen_cheap": "screening it by rules",
    "screen_expensive": "searching names and numbers in it",
    "health": "reading its health terms",
    "decide": "deciding about it",
    "second_names": "asking the second name recognizer",
    "keep": "reducing it to what is stored",
}


def cascade_json(searches: Mapping[str, int]) -> dict[str, Any]:
    """Return the object ``cascade`` of ``phiscan scan --json``."""
    return cascade_loss(**searches).to_json()


def cascade_lines(searches: Mapping[str, int]) -> list[str]:
    """Return the lines of the summary; none if every file was searched."""
    loss = cascade_loss(**searches)
    if not (loss.n_left_out or loss.n_audit):
        return []
    return [
        "",
        f"{'names not searched':<22}{loss.n_left_out:>10,}   no name could bring them to the threshold",
        f"{'  searched to check':<22}{loss.n_audit:>10,}   drawn at random, {_found(loss)}",
        _line("  missed referrals", loss.referrals),
        _line("  missed identifiers", loss.identified),
    ]


def _found(loss: CascadeLoss) -> str:
    return f"{loss.n_audit_referred:,} referred, {loss.n_audit_identified:,} with identifiers"


def _line(label: str, missed: Missed) -> str:
    if missed.n_files is None:
        return f"{label:<22}{'-':>10}   no file was drawn to estimate it from; `--everything` searches all"
    interval = f"files, an estimate: 95% interval {missed.low:,} to {missed.high:,}"
    return f"{label:<22}{round(missed.n_files):>10,}   {interval}"


def slowest_lines(files: Sequence[SlowFile]) -> list[str]:
    """Return a line for each of the slowest files: duration, and the stage that took most of it."""
    if not files:
        return []
    lines = ["", "slowest files"]
    for one in files:
        stage, part = one.slowest_stage
        why = f"{part:.0%} {_STAGES.get(stage, stage)}; {one.size:,} bytes, {one.n_chars:,} characters"
        lines.append(f"  {one.total_s:>8.2f} s   {visible(one.path)}: {why}")
    return lines
