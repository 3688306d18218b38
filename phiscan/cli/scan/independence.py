"""Dependence of the detectors' results, printed after every scan.

Over a whole share any two detectors agree, because most files are clearly not PHI. The missed-PHI estimate
assumes independence among PHI files; before any are reviewed, the files that the third detector classifies
as PHI are used instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from typing import Any

from phiscan.metrics.verdict_pairs import verdict_dependence
from phiscan.model import SECOND_LISTS
from phiscan.review.records.items import Detectors


def independence(histories: Mapping[Detectors, int]) -> list[dict[str, Any]]:
    """Return for every pair its mutual information in nats and the exact permutation p-value.

    ``files`` is the number compared: those that a detector outside the pair classifies as PHI. Files for
    which the cascade skipped a detector are not compared. The second family of name recognizers, which read a
    sample only, is part of the report.
    """
    of_all: Counter[Detectors] = Counter()
    for history, n_files in histories.items():
        of_all[tuple(result for result in history if result[0] not in SECOND_LISTS)] += n_files
    names = max(([name for name, _ in history] for history in of_all), key=len, default=[])
    whole = {history: n_files for history, n_files in of_all.items() if len(history) == len(names)}
    found = []
    for first, second in combinations(names, 2):
        counts = [0, 0, 0, 0]
        for history, n_files in whole.items():
            results = dict(history)
            if any(is_phi for name, is_phi in history if name not in {first, second}):
                counts[2 * (not results[first]) + (not results[second])] += n_files
        pair: dict[str, Any] = {"first": first, "second": second, "files": sum(counts)}
        if not pair["files"]:
            reason = "no other detector holds a file for PHI"
            found.append({**pair, "nats": None, "p_value": None, "reason": reason})
            continue
        measured = verdict_dependence(*counts)
        found.append({**pair, "nats": measured.nats, "p_value": measured.p_value})
    return found


def independence_lines(pairs: list[dict[str, Any]]) -> list[str]:
    """Return one line of text per pair."""
    lines = []
    for pair in pairs:
        names = f"  {pair['first']}, {pair['second']}"
        if pair["nats"] is None:
            lines.append(f"{names:<22}{'-':>10}   {pair['reason']}")
        else:
            lines.append(
                f"{names:<22}{pair['nats']:>10.3f}   nats, p = {pair['p_value']:.3g}, {pair['files']:,} files"
            )
    return ["dependence of detectors (0 nats: independent)", *lines] if lines else []
