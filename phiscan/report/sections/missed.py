"""PHI files missed by all detectors, estimated from the overlap of their results on confirmed PHI files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from phiscan.language import lazy_gettext as _
from phiscan.language import lazy_join
from phiscan.metrics import independence
from phiscan.metrics.capture_recapture import coverage as coverage_estimates
from phiscan.metrics.capture_recapture import loglinear, missed, strata, two_list
from phiscan.metrics.capture_recapture.captures import CaptureTable, capture_table
from phiscan.metrics.capture_recapture.loglinear import ASSUMPTION, SOURCE
from phiscan.metrics.capture_recapture.missed import AIC_WINDOW, MAX_LISTS_ALL_MODELS, MissedFiles
from phiscan.metrics.capture_recapture.two_list import Total
from phiscan.metrics.detector_accuracy import detector_accuracy
from phiscan.metrics.independence import feature_information
from phiscan.model import PiiBit, Referral, Verdict
from phiscan.report import words
from phiscan.report.sections.screened import Estimate
from phiscan.report.words import FORMATS, plain
from phiscan.review.worklist.model import FileRecord
from phiscan.visible import visible


@dataclass(frozen=True, slots=True)
class DetectorRow:
    """A detector's confusion matrix: TP and FP as reviewed, FN, TN and accuracy from the estimated total.

    ``by`` names the estimate of all PHI files; ``reason`` says what is missing.
    """

    name: str
    tp: int
    fp: int
    unverified: int
    fn: float | None
    tn: float | None
    sensitivity: float | None
    accuracy: float | None
    by: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class FeatureDependence:
    """Mutual information, in nats, of the stored features of two detectors over the confirmed PHI files.

    ``mean`` is over all pairs of features, as Mane et al. compare detectors; ``highest`` is the most
    dependent pair, ``first_feature`` and ``second_feature``.
    """

    first: str
    second: str
    compared: int
    mean: float | None
    highest: float | None
    first_feature: str
    second_feature: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class StratumTotal:
    """The PHI files of one format: confirmed and found by a detector, and estimated in all."""

    name: str
    found: int
    total: Total


@dataclass(frozen=True, slots=True)
class History:
    """One capture history: the detectors that classified files as PHI, and the verdicts on these files."""

    detectors: dict[str, bool]
    files: int
    referred: int
    phi: int
    not_phi: int
    unverified: int


@dataclass(frozen=True, slots=True)
class PairEstimate:
    """Capture-recapture with two detectors: Lincoln-Petersen and Chapman, from the three counts.

    ``dependence`` is the mutual information of the two verdicts, in nats, over the ``compared`` confirmed
    files that a third detector found: only there is the cell "neither" observed. ``reason`` says why it is
    None.
    """

    first: str
    second: str
    both: int
    only_first: int
    only_second: int
    lincoln_petersen: Total
    chapman: Total
    compared: int
    dependence: float | None
    p_value: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Capture:
    """The model-based answer: how much all detectors missed together, from how they overlap.

    ``n_found`` are the confirmed PHI files that at least one detector found; ``outside`` those that none
    did; ``open`` the files that some detector found and nobody has verified. ``counts`` are the confirmed
    files by capture history, one digit per detector in the order of ``detectors``. ``totals`` are all
    totals, each with what it is made of; ``formats`` are the estimates within each format, the parts of one
    of them. ``reason`` says why nothing is estimated; ``warnings`` say why an estimate is not to be
    trusted.
    """

    detectors: tuple[str, ...]
    n_found: int
    outside: int
    open: int
    counts: dict[str, int]
    pairs: tuple[PairEstimate, ...]
    models: MissedFiles | None
    totals: tuple[Estimate, ...]
    formats: tuple[StratumTotal, ...]
    reason: str | None
    warnings: tuple[str, ...]
    assumption: str
    source: str
    accuracy: tuple[DetectorRow, ...] = ()
    features: tuple[FeatureDependence, ...] = ()


MIN_STRATA = 2
_AVERAGE_SOURCE = _("Burnham & Anderson (2002), section 4.3; Buckland, Burnham & Augustin (1997)")
_BOUND = _(
    "On each file the detectors act independently; the files themselves may differ in "
    "how easily they are found, and then the total is larger than this."
)
_PAIRS = _(
    "Detectors depend on each other in pairs only, as their overlaps show. For a "
    "coverage below 55% the authors advise the one-step total, as a lower bound."
)
_SAMPLE_COVERAGE = _("Chao & Tsay (1998), eq. 2.3 to 2.7; Chao et al. (2001), eq. 9, 12 and 13")


def totals(table: CaptureTable, names: Sequence[str], models: MissedFiles) -> tuple[Estimate, ...]:
    """Return every total for three detectors or more, each with its inputs."""
    bound = models.lower_bound
    lower = _number(
        _("Total PHI at least, Chao's lower bound"),
        (bound.total, None, bound.reason),
        "n + f₁² / (2 f₂)",
        {
            _("n (found)"): table.n_found,
            _("f₁ (by one detector)"): table.frequencies[1],
            _("f₂ (by two)"): table.frequencies[2],
        },
        _BOUND,
        _("Chao (1987), eq. 5"),
    )
    return (*_selected(models), *_over_models(models), lower, *_coverage(table, names, models))


Known = tuple[float | None, tuple[float, float] | None, str | None]  # value, interval, reason


def _number(  # noqa: PLR0917 (the fields of an estimate)
    name: str, known: Known, formula: str, inputs: dict[str, float], assumption: str, source: str
) -> Estimate:
    value, ci95, reason = known
    return Estimate(name, value, ci95, "number", formula, inputs, assumption, source, reason)


def _selected(models: MissedFiles) -> Iterator[Estimate]:
    fits = {fit.model: fit for fit in models.models}
    for criterion, selected in (("AIC", models.selected_aic), ("BIC", models.selected_bic)):
        name = _("Total PHI, model of the lowest {criterion}", criterion=criterion)
        inputs: dict[str, float] = {_("n (found)"): models.n_observed}
        known: Known = (None, None, models.reason)
        if fit := fits.get(selected or ""):
            name = _(
                "Total PHI, model of the lowest {criterion}: {model}", criterion=criterion, model=fit.model
            )
            values = {_("missed"): fit.missed, "AIC": fit.aic, "BIC": fit.bic}
            inputs |= {name: value for name, value in values.items() if value is not None}
            known = (fit.total, fit.ci95, fit.reason)
        formula = _("n + exp(intercept) of that log-linear model")
        yield _number(name, known, formula, inputs, loglinear.ASSUMPTION, loglinear.SOURCE)


def _over_models(models: MissedFiles) -> Iterator[Estimate]:
    usable = [fit.aic for fit in models.models if fit.aic is not None and fit.total is not None]
    best = min(usable, default=0.0)
    inputs: dict[str, float] = {_("models with an estimate"): len(usable)}
    near: dict[str, float] = {_("models within"): sum(aic - best <= AIC_WINDOW for aic in usable)}
    if usable:
        inputs[_("lowest AIC")] = near[_("lowest AIC")] = best
    averaged = models.averaged
    yield _number(
        _("Total PHI, averaged over the models"),
        (averaged.total, averaged.ci95, models.reason) if averaged else (None, None, models.reason),
        _("Σ w N / Σ w with w = exp(-(AIC - lowest AIC) / 2)"),
        inputs,
        _("One of the models is right, and their AIC says how likely each is."),
        _AVERAGE_SOURCE,
    )
    low, high = models.model_range or (None, None)
    for which, value, formula in ((_("Smallest"), low, _("min N")), (_("Largest"), high, _("max N"))):
        yield _number(
            _("{which} total within 10 AIC units of the best", which=which),
            (value, None, models.reason),
            formula,
            near,
            _("The data rule out none of these models; the truth may lie outside all of them."),
            _("Burnham & Anderson (2002), section 2.6"),
        )


def _coverage(table: CaptureTable, names: Sequence[str], models: MissedFiles) -> Iterator[Estimate]:
    found = models.coverage
    singles = [1 << position for position in range(table.n_lists)]
    inputs: dict[str, float] = {}
    for single, name in zip(singles, names, strict=True):
        inputs[_("found by {name}", name=plain(name))] = table.margin(single)
        inputs[_("by {name} alone", name=plain(name))] = table.only(single)
    yield Estimate(
        _("Sample coverage C"),
        found.coverage,
        None,
        "share",
        _("1 - mean over the detectors of (found by it alone / found by it)"),
        inputs,
        _("What another detector confirms of each one's files is the share of all PHI that they cover."),
        _SAMPLE_COVERAGE,
        found.reason if found.coverage is None else None,
    )
    built: dict[str, float] = {
        "D": table.n_found - sum(table.only(single) for single in singles) / table.n_lists
    }
    if found.coverage is not None:
        built["C"] = found.coverage
    low = found.coverage is not None and found.coverage < coverage_estimates.LOW_COVERAGE
    dependent = _(
        "the N that solves N = D / C + Σ over pairs of (files of these two alone) (N n₁₂ / "
        "(n₁ n₂) - 1) / (t C)"
    )
    kinds = (
        (
            _("independent detectors"),
            found.independent_total,
            _("D / C, with D = n - mean found by one alone"),
        ),
        (
            _("corrected for dependence; not advised here") if low else _("corrected for dependence"),
            found.total,
            dependent,
        ),
        (
            _("one-step, advised here") if low else _("one-step"),
            found.one_step_total,
            _("the same correction, applied twice from D / C on"),
        ),
    )
    for kind, value, formula in kinds:
        known = (value, None, found.reason if value is None else None)
        name = _("Total PHI by sample coverage, {kind}", kind=kind)
        yield _number(name, known, formula, built, _PAIRS, _SAMPLE_COVERAGE)


def by_format(confirmed: Sequence[tuple[str, tuple[int, ...]]]) -> tuple[tuple[StratumTotal, ...], Estimate]:
    """Estimate within every format with confirmed files, and add the estimates.

    Args:
        confirmed: media type and capture history of each confirmed file that a detector found.

    Source: Sekar & Deming (1949), section 6.
    """
    cells: dict[str, Counter[tuple[int, ...]]] = {}
    for media_type, history in confirmed:
        cells.setdefault(FORMATS.get(media_type, media_type) or _("not known"), Counter())[history] += 1
    parts: tuple[StratumTotal, ...] = ()
    known: Known = (None, None, _("the confirmed files are of fewer than two formats"))
    if len(cells) >= MIN_STRATA and max(len(history) for _type, history in confirmed) > MAX_LISTS_ALL_MODELS:
        known = (None, None, _("more than five detectors: too many models for each format"))
    elif len(cells) >= MIN_STRATA:
        tables = {
            name: capture_table(list(cell), list(cell.values())) for name, cell in sorted(cells.items())
        }
        estimated = strata.stratified_total(tables)
        parts = tuple(
            StratumTotal(name, tables[name].n_found, total) for name, total in estimated.strata.items()
        )
        known = (estimated.combined.total, estimated.combined.ci95, estimated.combined.reason)
    return parts, _number(
        _("Total PHI, sum over the formats"),
        known,
        _("Σ N of each format; variances add up, log-transformed interval"),
        {_("formats"): len(parts), _("n (found)"): sum(part.found for part in parts)},
        strata.ASSUMPTION + _(" A format without confirmed files adds nothing."),
        strata.SOURCE,
    )


_NAME_BITS = (PiiBit.FIRST_NAME, PiiBit.LAST_NAME, PiiBit.HEALTH_PROFESSIONAL)
_PATTERN_BITS = (
    *(PiiBit.SIN, PiiBit.HEALTH_CARD, PiiBit.PASSPORT, PiiBit.DRIVER_LICENSE, PiiBit.STREET_ADDRESS),
    *(PiiBit.PHONE, PiiBit.EMAIL, PiiBit.SSN, PiiBit.MRN, PiiBit.HEALTH_PLAN),
)
MIN_COMPARED = 10  # with fewer files the mutual information is mostly bias


def detector_rows(
    names: Sequence[str],
    histories: Sequence[History],
    models: MissedFiles | None,
    pairs: Sequence[PairEstimate],
) -> tuple[DetectorRow, ...]:
    """Return the confusion matrix of each detector under the estimated number of PHI files.

    The estimate is the model average, or Chapman's of the one pair of detectors; if reviewers confirmed PHI
    that no detector marked, the total is at least the known number.

    Source: Mane et al. (2004), section 2, last step.
    """
    known = sum(history.phi for history in histories)
    total, by = _total(models, pairs)
    total = None if total is None else max(total, float(known))
    n_files = sum(history.files for history in histories)
    rows = []
    for name in names:
        marked = [history for history in histories if history.detectors[name]]
        tp, fp = sum(history.phi for history in marked), sum(history.not_phi for history in marked)
        open_ = sum(history.unverified for history in marked)
        # Files without a verdict are neither true nor false positives: they must not count as TN.
        found = detector_accuracy(tp, total, fp=None if open_ else fp, files=n_files)
        reason = found.reason
        if open_ and total is not None:
            reason = _("tn, accuracy: {open} files that it marked are not verified", open=open_)
        rates = (found.fn, found.tn, found.sensitivity, found.accuracy)
        rows.append(DetectorRow(name, tp, fp, open_, *rates, by, reason))
    return tuple(rows)


def _total(models: MissedFiles | None, pairs: Sequence[PairEstimate]) -> tuple[float | None, str]:
    if models is not None:
        return (None if models.averaged is None else models.averaged.total), _("averaged over models")
    if len(pairs) == 1:
        return pairs[0].chapman.total, _("Chapman")
    return None, _("no estimate")


def feature_dependence(files: Sequence[FileRecord], names: Sequence[str]) -> tuple[FeatureDependence, ...]:
    """Estimate the mutual information of the features of each pair of detectors over confirmed PHI files.

    Patterns: one bit per identifier. Names: the bits of names, the number of people, the health score. The
    text detector uses hashed sums that no scan stores, so that it has no feature here.

    Source: Mane et al. (2004), section 3 and figure 2.
    """
    confirmed = [entry for entry in files if entry.verdict is Verdict.PHI and entry.health_score is not None]

    def bits(chosen: Sequence[PiiBit]) -> dict[str, list[float]]:
        return {bit.value: [float(bit in entry.vector.bits) for entry in confirmed] for bit in chosen}

    columns = {
        "patterns": bits(_PATTERN_BITS),
        "names": {
            **bits(_NAME_BITS),
            "people": [float(entry.n_people) for entry in confirmed],
            "health score": [entry.health_score or 0.0 for entry in confirmed],
        },
    }
    return tuple(_pair(first, second, columns, len(confirmed)) for first, second in combinations(names, 2))


def _pair(
    first: str, second: str, columns: dict[str, dict[str, list[float]]], compared: int
) -> FeatureDependence:
    missing = [name for name in (first, second) if name not in columns]
    if missing or compared < MIN_COMPARED:
        reason = (
            _("the features of {missing} are hashed sums, which no scan stores", missing=missing[0])
            if missing
            else _("fewer than {min_compared} confirmed PHI files", min_compared=MIN_COMPARED)
        )
        return FeatureDependence(first, second, compared, None, None, "", "", reason)
    one, two = columns[first], columns[second]
    nats = feature_information(np.array(list(one.values())).T, np.array(list(two.values())).T)
    row, column = np.unravel_index(int(nats.argmax()), nats.shape)
    highest = (float(nats.max()), list(one)[int(row)], list(two)[int(column)])
    return FeatureDependence(first, second, compared, float(nats.mean()), *highest, None)


MIN_DETECTORS = 2
MODEL_DETECTORS = 3
_NOT_COVERED = _(
    "On simulated shares whose detectors depend on each other as they do on real texts, "
    "the 95% intervals of these models held the truth far less often than 95%: take the "
    "bound of the random sample instead."
)
FEW_FILES = 30  # with fewer, the intervals of every model are too wide to be useful


def detector_names(files: Sequence[FileRecord]) -> tuple[str, ...]:
    """Return the names of the detectors in their order; empty if no file was read.

    A file that the cascade skipped has no result of some detectors; the first one with most of them counts.
    """
    return max((tuple(dict(entry.detectors)) for entry in files), key=len, default=())


def histories(files: Sequence[FileRecord]) -> tuple[History, ...]:
    """Count files by capture history; those that no detector marked come last."""
    names = detector_names(files)
    groups: dict[tuple[bool, ...], Counter[str]] = {}
    for entry in files:
        found = dict(entry.detectors)
        if len(found) < len(names):
            continue  # the cascade skipped a detector: its history is incomplete
        key = tuple(found[name] for name in names)
        group = groups.setdefault(key, Counter())
        group["files"] += 1
        group["referred"] += entry.referral == Referral.REFERRED
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


def capture_recapture(files: Sequence[FileRecord]) -> Capture:
    """Estimate the PHI files that no detector found, by every pair and by all log-linear models.

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
    confirmed = [
        (visible(entry.media_type), tuple(int(flag) for _name, flag in entry.detectors))
        for entry in files
        if entry.verdict is Verdict.PHI and len(dict(entry.detectors)) == len(names)
    ]
    marked = [one for one in confirmed if any(one[1])]
    formats, summed = by_format(marked) if table else ((), None)
    every = totals(table, names, models) if table and models else ()
    # Files without a history, for which the cascade skipped the expensive recognizers.
    n_incomplete = sum(len(dict(entry.detectors)) < len(names) for entry in files)
    incomplete = _(
        "The names of {n_files} files were not searched, so that not every detector judged "
        "them. These totals say nothing of them; what they hold is estimated from the audit "
        "sample of the scan (see the limits).",
        n_files=words.count(n_incomplete),
    )
    warnings = (*_warnings(n_found, n_open, outside, models), *([incomplete] if n_incomplete else []))
    warnings += coverage_warnings(pairs)
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
        warnings=() if reason else warnings,
        assumption=ASSUMPTION,
        source=SOURCE,
        accuracy=detector_rows(names, found, models, pairs),
        features=feature_dependence(files, names),
    )


def _reason(names: Sequence[str], n_found: int) -> str | None:
    if len(names) < MIN_DETECTORS:
        return (
            _("no file was read, so no detector gave a verdict") if not names else _("only one detector ran")
        )
    if n_found == 0:
        return _("no confirmed PHI file was found by a detector yet; confirm some files of the queue first")
    return None


def _warnings(n_found: int, n_open: int, outside: int, models: missed.MissedFiles | None) -> Iterator[str]:
    if n_open:
        yield _(
            "Some files that a detector marked have not been verified. The histories are "
            "therefore incomplete, and what is missing is mostly what one detector alone saw: "
            "these totals are probably too low."
        )
    if n_found < FEW_FILES:
        yield _(
            "Fewer than {few_files} confirmed files: read the intervals, not the estimates.",
            few_files=FEW_FILES,
        )
    if outside:
        yield _(
            "People confirmed PHI in files that no detector marked. These are known misses; they "
            "are outside of the histories, and of the estimated missed files they are already "
            "found."
        )
    if models is not None and models.averaged is not None and models.averaged.missed < outside:
        yield _(
            "The averaged estimate is below the number of those known misses: the detectors fail "
            "on the same files, the assumption does not hold here, and the estimate is not to be "
            "used."
        )


def coverage_warnings(pairs: Sequence[PairEstimate]) -> tuple[str, ...]:
    """Warn of every pair of detectors whose independence the data contradict, and of the intervals then.

    Simulations with known truth showed that they have less than nominal coverage. Measured by
    benchmarks/bench_capture_coverage.py; the table is in docs/explanation/capture-recapture.md.
    """
    dependent = tuple(
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
    return (*dependent, _NOT_COVERED) if dependent else ()


def pair_estimates(table: CaptureTable, names: Sequence[str]) -> tuple[PairEstimate, ...]:
    """Return the two-list estimates of every pair of detectors, and the dependence of the pair."""
    estimates = []
    for first, second in combinations(range(len(names)), 2):
        both = table.margin(1 << first | 1 << second)
        only_first = table.margin(1 << first) - both
        only_second = table.margin(1 << second) - both
        cells = (both, only_first, only_second)
        totals = (two_list.lincoln_petersen(*cells), two_list.chapman(*cells))
        dependence = _dependence(table, first, second)
        estimates.append(PairEstimate(names[first], names[second], *cells, *totals, **dependence))
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
