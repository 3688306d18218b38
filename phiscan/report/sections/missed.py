"""PHI files missed by all detectors, estimated from the overlap of their results on confirmed PHI files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from phiscan.language import lazy_gettext as _
from phiscan.language import lazy_join
from phiscan.metrics import independence
from phiscan.metrics.capture_recapture import missed, two_list
from phiscan.metrics.capture_recapture.captures import CaptureTable, capture_table
from phiscan.metrics.capture_recapture.loglinear import ASSUMPTION, SOURCE
from phiscan.model import Referral, Verdict
from phiscan.report import words
from phiscan.report.data.missed import Capture, History, PairEstimate
from phiscan.report.data.report import FileEntry
from phiscan.report.detectors import detector_rows, feature_dependence
from phiscan.report.sections.missed_totals import by_format, totals

MIN_DETECTORS = 2
MODEL_DETECTORS = 3
_NOT_COVERED = _(
    "On simulated shares whose detectors depend on each other as they do on real texts, "
    "the 95% intervals of these models held the truth far less often than 95%: take the "
    "bound of the random sample instead."
)
FEW_FILES = 30  # with fewer, the intervals of every model are too wide to be useful


def detector_names(files: Sequence[FileEntry]) -> tuple[str, ...]:
    """Return the names of the detectors in their order; empty if no file was read.

    A file that the cascade skipped has no result of some detectors; the first one with most of them counts.
    """
    return max((tuple(entry.detectors) for entry in files), key=len, default=())


def histories(files: Sequence[FileEntry]) -> tuple[History, ...]:
    """Count files by capture history; those that no detector marked come last."""
    names = detector_names(files)
    groups: dict[tuple[bool, ...], Counter[str]] = {}
    for entry in files:
        if len(entry.detectors) < len(names):
            continue  # the cascade skipped a detector: its history is incomplete
        key = tuple(entry.detectors[name] for name in names)
        group = groups.setdefault(key, Counter())
        group["files"] += 1
        group["referred"] += entry.decision == Referral.REFERRED
        if entry.verdict in {Verdict.PHI, Verdict.NOT_PHI}:
            group[str(entry.verdict)] += 1
    ordered = sorted(groups.items(), key=lambda item: (-sum(item[0]), [not flag for flag in item[0]]))
    return tuple(
        History(
            detectors=dict(zip(names, key, strict=True)),
            files=group["files"],
            referred=group["referred"],
            phi=group[Verdict.PHI],
            not_phi=group[Verdict.NOT_PHI],
            unverified=group["files"] - group[Verdict.PHI] - group[Verdict.NOT_PHI],
        )
        for key, group in ordered
    )


def capture_recapture(files: Sequence[FileEntry], *, every_total: bool = True) -> Capture:
    """Estimate the PHI files that no detector found, by every pair and by all log-linear models.

    ``every_total``: latent classes and formats too, which take long with few files on four lists.

    Source: Mane et al. (2004), section 2; Goldberg & Wittes (1978); Fienberg (1972).
    """
    names = detector_names(files)
    found = histories(files)
    counts = {
        tuple(int(flag) for flag in history.detectors.values()): history.phi
        for history in found
        if any(history.detectors.values())
    }
    n_found = sum(counts.values())
    n_open = sum(history.unverified for history in found if any(history.detectors.values()))
    outside = sum(history.phi for history in found if not any(history.detectors.values()))
    reason = _reason(names, n_found)
    table = capture_table(list(counts), list(counts.values())) if reason is None else None
    pairs = () if table is None else pair_estimates(table, names)
    models = missed.estimate_missed(table) if table and len(names) >= MODEL_DETECTORS else None
    formats, summed = by_format(_confirmed_histories(files)) if table and every_total else ((), None)
    every = totals(table, names, models) if table and models and every_total else ()
    return Capture(
        detectors=names,
        n_found=n_found,
        outside=outside,
        open=n_open,
        counts={"".join(map(str, history)): count for history, count in counts.items()},
        pairs=pairs,
        models=models,
        totals=(*every, *([summed] if summed else [])),
        formats=formats,
        reason=reason,
        warnings=()
        if reason
        else (
            *_warnings(n_found, n_open, outside, models),
            *_incomplete(sum(len(entry.detectors) < len(names) for entry in files)),
            *coverage_warnings(pairs),
        ),
        assumption=ASSUMPTION,
        source=SOURCE,
        accuracy=detector_rows(names, found, models, pairs),
        features=feature_dependence(files, names),
    )


def _confirmed_histories(files: Sequence[FileEntry]) -> list[tuple[str, tuple[int, ...]]]:
    n_detectors = len(detector_names(files))
    return [
        (entry.media_type, tuple(int(flag) for flag in entry.detectors.values()))
        for entry in files
        if entry.verdict is Verdict.PHI
        and any(entry.detectors.values())
        and len(entry.detectors) == n_detectors
    ]


def _reason(names: Sequence[str], n_found: int) -> str | None:
    if len(names) < MIN_DETECTORS:
        return (
            _("no file was read, so no detector gave a verdict") if not names else _("only one detector ran")
        )
    if n_found == 0:
        return _("no confirmed PHI file was found by a detector yet; confirm some files of the queue first")
    return None


def _warnings(n_found: int, n_open: int, outside: int, models: missed.MissedFiles | None) -> tuple[str, ...]:
    warnings = []
    if n_open:
        warnings.append(
            _(
                "Some files that a detector marked have not been verified. The histories are "
                "therefore incomplete, and what is missing is mostly what one detector alone saw: "
                "these totals are probably too low."
            )
        )
    if n_found < FEW_FILES:
        warnings.append(
            _(
                "Fewer than {few_files} confirmed files: read the intervals, not the estimates.",
                few_files=FEW_FILES,
            )
        )
    if outside:
        warnings.append(
            _(
                "People confirmed PHI in files that no detector marked. These are known misses; they "
                "are outside of the histories, and of the estimated missed files they are already "
                "found."
            )
        )
    if models is not None and models.averaged is not None and models.averaged.missed < outside:
        warnings.append(
            _(
                "The averaged estimate is below the number of those known misses: the detectors fail "
                "on the same files, the assumption does not hold here, and the estimate is not to be "
                "used."
            )
        )
    return tuple(warnings)


def _incomplete(n_files: int) -> tuple[str, ...]:
    """Warn of files without a history, for which the cascade skipped the expensive recognizers."""
    if not n_files:
        return ()
    warning = _(
        "The names of {n_files} files were not searched, so that not every detector judged "
        "them. These totals say nothing of them; what they hold is estimated from the audit "
        "sample of the scan (see the limits).",
        n_files=words.count(n_files),
    )
    return (warning,)


def coverage_warnings(pairs: Sequence[PairEstimate]) -> tuple[str, ...]:
    """Warn if simulations with known truth showed that the intervals have less than nominal coverage.

    Measured by benchmarks/bench_capture_coverage.py; the table is in docs/explanation/capture-recapture.md.
    """
    dependent = _dependent(pairs)
    return (*dependent, _NOT_COVERED) if dependent else ()


def _dependent(pairs: Sequence[PairEstimate]) -> tuple[str, ...]:
    """Warn of every pair of detectors whose independence the data contradict."""
    return tuple(
        _(
            "{first} and {second} are not independent (p = {p_value}): do not use their "
            "two-list estimate, nor a model that keeps them apart.",
            first=words.plain(pair.first),
            second=words.plain(pair.second),
            p_value=words.ratio(pair.p_value),
        )
        for pair in pairs
        if pair.p_value is not None and pair.p_value <= independence.CREDIBLE_P
    )


def pair_estimates(table: CaptureTable, names: Sequence[str]) -> tuple[PairEstimate, ...]:
    """Return the two-list estimates of every pair of detectors, and the dependence of the pair."""
    estimates = []
    for first, second in combinations(range(len(names)), 2):
        both = table.margin(1 << first | 1 << second)
        only_first = table.margin(1 << first) - both
        only_second = table.margin(1 << second) - both
        estimates.append(
            PairEstimate(
                first=names[first],
                second=names[second],
                both=both,
                only_first=only_first,
                only_second=only_second,
                lincoln_petersen=two_list.lincoln_petersen(both, only_first, only_second),
                chapman=two_list.chapman(both, only_first, only_second),
                **_dependence(table, first, second),
            )
        )
    return tuple(estimates)


def _dependence(table: CaptureTable, first: int, second: int) -> dict[str, Any]:
    """Estimate the dependence of two detectors' results on the files that a third one found.

    Over all confirmed files the two would look negatively dependent: those that neither found are missing.

    Source: Mane et al. (2004), section 3.
    """
    others = ~(1 << first | 1 << second)
    cells = [0, 0, 0, 0]
    for history, count in enumerate(table.counts):
        if history & others:
            cells[2 * (not history >> first & 1) + (not history >> second & 1)] += count
    if not sum(cells):
        reason = _("no confirmed file was found by a third detector")
        return {"compared": 0, "dependence": None, "p_value": None, "reason": reason}
    found = independence.verdict_dependence(*cells)
    return {"compared": sum(cells), "dependence": found.nats, "p_value": found.p_value, "reason": None}


def meaning(model: str, names: Sequence[str]) -> str:
    """Return in words which detectors are dependent in a model.

    >>> meaning("[12,3]", ("patterns", "names", "text"))
    'patterns and names go together'
    >>> meaning("[1,2,3]", ("patterns", "names", "text"))
    'all detectors are independent'
    """
    terms = [term for term in model.strip("[]").split(",") if len(term) > 1]
    if not terms:
        return _("all detectors are independent")
    named = [lazy_join(_(" and "), [words.plain(names[int(digit) - 1]) for digit in term]) for term in terms]
    if len(named) == MODEL_DETECTORS == len(names):
        return _("every pair goes together")
    return lazy_join("; ", [_("{pair} go together", pair=pair) for pair in named])
