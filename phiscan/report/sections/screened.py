"""How good the screen and its order are, by verdicts: TDP, FRP and PPV of each screen; ranking of the scores.

Only decided files can be evaluated, and the screen chose most of them. The figures of a ranking therefore
describe that of such files and not of the files that nobody opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from phiscan.language import lazy_gettext as _
from phiscan.language import lazy_join
from phiscan.metrics import elusion, ranking
from phiscan.metrics.intervals import Figure, proportion
from phiscan.metrics.screening import coverage, relative, tdp_frp
from phiscan.metrics.verification import VERIFIED_ASSUMPTION, VERIFIED_SOURCE, Verified, begg_greenes
from phiscan.model import Referral, Verdict
from phiscan.report.words import count
from phiscan.review.worklist.model import FileRecord


@dataclass(frozen=True, slots=True)
class Estimate:
    """One number that can be followed: formula, inputs by name, assumption and source.

    ``formula`` is plain text, with one letter per input where their names begin with one. ``unit`` says
    how it reads: "share" of a whole, "number" of files, or a plain "ratio". ``reason`` says why the
    value, or with a value why its interval, does not exist.
    """

    name: str
    value: float | None
    ci95: tuple[float, float] | None
    unit: Literal["share", "number", "ratio"]
    formula: str
    inputs: dict[str, float]
    assumption: str
    source: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class Final:
    """Where a figure will lie once every file is verified, whatever the open verdicts turn out to be.

    ``low`` counts every open file against the figure, ``high`` every one for it; ``ci95`` reaches from the
    lower exact limit of the one to the upper exact limit of the other.
    """

    low: float | None
    high: float | None
    ci95: tuple[float, float] | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Characteristic:
    """The screen "the file shows this": Table 1 of the paper, with TDP, FRP and PPV.

    ``positive`` = phi + not_phi + unverified; ``n`` = positive + negative. The cells under ``negative`` are
    not known to anybody. ``relative_tdp`` and ``relative_frp`` divide by those of the ``reference``.
    """

    name: str
    label: str
    hipaa: str
    n: int
    positive: int
    negative: int
    phi: int
    not_phi: int
    unverified: int
    unsure: int
    coverage: Figure
    tdp: Figure
    frp: Figure
    ppv: Figure
    final_tdp: Final
    final_frp: Final
    reference: str
    relative_tdp: Figure
    relative_frp: Figure


@dataclass(frozen=True, slots=True)
class SecondList:
    """The second list: files that a detector marked and that were not referred, with their verdicts.

    ``phi_share`` is its yield: the share of PHI among those reviewed. ``too_low``: some were not reviewed, so
    that capture histories lack their PHI and the estimate of what was missed is too low. ``phi``, ``not_phi``
    and ``phi_share`` are None where only the number of reviewed files is known.
    """

    files: int
    reviewed: int
    phi: int | None
    not_phi: int | None
    phi_share: Figure | None
    too_low: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class Elusion:
    """The random sample of the files that were not referred, as the desk drew it: counts of its review.

    ``found`` is the PHI among the reviewed (unsure and disputed are PHI). The bound is
    ``ReportData.remaining.missed_in_rest``; ``recall_lower`` is the recall of the referral by it.
    """

    population: int
    drawn: int
    reviewed: int
    found: int
    recall_lower: float | None
    source: str = elusion.SOURCE


@dataclass(frozen=True, slots=True)
class Verification:
    """Sensitivity and specificity, corrected for which files were verified.

    ``open`` counts the referred files without a verdict: while there are any, the riskiest are verified first
    and the assumption does not hold. ``reason`` says why nothing is estimated.
    """

    estimates: tuple[Estimate, ...]
    open: int
    reason: str | None
    assumption: str
    source: str


@dataclass(frozen=True, slots=True)
class ScoreRanking:
    """How well a score orders the files with a verdict; a higher score should mean PHI.

    ``phi`` and ``not_phi`` are the decided files, ``not_referred`` those of them that the screen had not
    referred; ``no_score`` decided files without this score are left out. ``curve`` holds (recall, precision)
    from the highest score to the lowest, thinned to what can be drawn. ``reason`` says why nothing is
    estimated.
    """

    score: str
    label: str
    phi: int
    not_phi: int
    not_referred: int
    no_score: int
    estimates: tuple[Estimate, ...]
    curve: tuple[tuple[float, float], ...]
    reason: str | None
    assumption: str


NOT_REVIEWED = _("no file of the second list has been reviewed")
NOT_KNOWN = _(
    "The counts do not say whether the second list (marked by a detector and not "
    "referred) was reviewed; the estimate is too low if it was not."
)


def second_list(files: Sequence[FileRecord], note: str = "") -> SecondList:
    """Count the second list of the files that were read, and its verdicts; a note ends the sentence."""
    verdicts = [entry.verdict for entry in files if entry.second_look]
    phi, not_phi = verdicts.count(Verdict.PHI), verdicts.count(Verdict.NOT_PHI)
    return made_of(len(verdicts), phi + not_phi, phi, note)


def made_of(files: int, reviewed: int, phi: int | None, note: str = "") -> SecondList:
    """Return size and yield of a list from the numbers of its files, reviewed and confirmed ones.

    ``phi``: None if it is not known how many of the reviewed files are PHI.
    """
    return SecondList(
        files=files,
        reviewed=reviewed,
        phi=phi,
        not_phi=None if phi is None else reviewed - phi,
        phi_share=None if phi is None else proportion(phi, reviewed, NOT_REVIEWED),
        too_low=reviewed < files,
        sentence=lazy_join(" ", filter(None, (_sentence(files, reviewed, phi), note))),
    )


def _sentence(files: int, reviewed: int, phi: int | None) -> str:
    if not files:
        return _("The second list is empty: every file that a detector marked was referred.")
    what = _(
        "Second list (marked by a detector and not referred): {reviewed} of {files} reviewed",
        reviewed=count(reviewed),
        files=count(files),
    )
    found = _(", {phi} of those hold PHI", phi=count(phi)) if phi is not None and reviewed else ""
    if reviewed < files:
        return _(
            "{what}{found}. The estimate of missed PHI is too low, because the rest was not reviewed.",
            what=what,
            found=found,
        )
    return _("{what}{found}. The capture histories are complete.", what=what, found=found)


def corrected(overall: Characteristic, elusion: Elusion, *, n_rest: int) -> Verification:
    """Correct sensitivity and specificity with the random sample of the files that were not referred.

    As in the bound, a verdict of unsure in the sample counts as PHI. ``n_rest``: files that were read and not
    referred.

    Source: Begg & Greenes (1983).
    """
    positive = Verified(overall.phi, overall.not_phi, overall.unverified)
    healthy = elusion.reviewed - elusion.found
    negative = Verified(elusion.found, healthy, max(n_rest - elusion.reviewed, 0))
    found = begg_greenes(positive, negative)
    inputs: dict[str, float] = {
        "a (referred, PHI)": positive.diseased,
        "b (referred, not PHI)": positive.healthy,
        "N⁺ (referred)": positive.n,
        "c (sample, PHI)": negative.diseased,
        "d (sample, not PHI)": negative.healthy,
        "N⁻ (not referred)": negative.n,
    }
    rows: tuple[tuple[str, Figure, str], ...] = (
        (
            _("Sensitivity, corrected"),
            found.corrected.sensitivity,
            "[N⁺ a / (a + b)] / [N⁺ a / (a + b) + N⁻ c / (c + d)]",
        ),
        (
            _("Specificity, corrected"),
            found.corrected.specificity,
            "[N⁻ d / (c + d)] / [N⁻ d / (c + d) + N⁺ b / (a + b)]",
        ),
        (_("Sensitivity of the verified files alone, biased"), found.naive.sensitivity, "a / (a + c)"),
        (_("Specificity of the verified files alone, biased"), found.naive.specificity, "d / (b + d)"),
        (
            _("Share of PHI among the files that were read"),
            Figure(found.prevalence, None, found.reason),
            "[N⁺ a / (a + b) + N⁻ c / (c + d)] / (N⁺ + N⁻)",
        ),
    )
    from_here = (VERIFIED_ASSUMPTION, VERIFIED_SOURCE)
    estimates = tuple(
        Estimate(name, one.value, one.ci95, "share", formula, inputs, *from_here, one.reason)
        for name, one, formula in rows
    )
    return Verification(() if found.reason else estimates, overall.unverified, found.reason, *from_here)


NO_PERSON = _("none of these files has been verified yet")
NOTHING_READ = _("no file was read")


@dataclass(frozen=True, slots=True)
class Screen:
    """One binary screen over the files that were read: its name and the files that it marks."""

    name: str
    label: str
    hipaa: str
    marked: frozenset[int]


class _Decided:
    """The files that were read, by verdict."""

    def __init__(self, files: Sequence[FileRecord]) -> None:
        self.n = len(files)
        self.phi = frozenset(entry.file_id for entry in files if entry.verdict is Verdict.PHI)
        self.not_phi = frozenset(entry.file_id for entry in files if entry.verdict is Verdict.NOT_PHI)
        self.unsure = frozenset(entry.file_id for entry in files if entry.verdict is Verdict.UNSURE)


def characteristics(screens: Sequence[Screen], files: Sequence[FileRecord]) -> tuple[Characteristic, ...]:
    """Evaluate screens over the same files; the one with the most confirmed PHI is the reference.

    Screens that mark no file are omitted. The result is ordered by confirmed PHI files, most first.

    Args:
        screens: which of the files each screen marks, by file number.
        files: the files that were read.

    Source: Sokolova & El Emam (2008), Table 1 and eq. 12, 13.
    """
    decided = _Decided(files)
    used = sorted(
        (screen for screen in screens if screen.marked),
        key=lambda screen: (-len(screen.marked & decided.phi), -len(screen.marked), screen.name),
    )
    return tuple(_evaluate(screen, used[0], decided) for screen in used)


def _evaluate(screen: Screen, reference: Screen, decided: _Decided) -> Characteristic:
    marked, phi, not_phi, n = screen.marked, decided.phi, decided.not_phi, decided.n
    n_phi, n_not_phi = len(marked & phi), len(marked & not_phi)
    n_open = len(marked) - n_phi - n_not_phi
    # n of equations 12 and 13 is n+ + n-: the unverified files are part of n+, in no cell yet.
    found = tdp_frp(n_phi, n_not_phi, n - n_phi - n_not_phi)
    is_unknown = n == 0 or (bool(marked) and n_phi + n_not_phi == 0)
    unknown = Figure(None, None, NO_PERSON if n else NOTHING_READ)
    ratio = relative(
        (n_phi, n_not_phi),
        (len(reference.marked & phi), len(reference.marked & not_phi)),
        both=(len(marked & reference.marked & phi), len(marked & reference.marked & not_phi)),
    )
    return Characteristic(
        name=screen.name,
        label=screen.label,
        hipaa=screen.hipaa,
        n=n,
        positive=len(marked),
        negative=n - len(marked),
        phi=n_phi,
        not_phi=n_not_phi,
        unverified=n_open,
        unsure=len(marked & decided.unsure),
        coverage=coverage(n_phi, n_not_phi + n_open, n - len(marked)),
        tdp=unknown if is_unknown else found.tdp,
        frp=unknown if is_unknown else found.frp,
        ppv=unknown if is_unknown else found.ppv,
        final_tdp=_final(n_phi, n_open, n),
        final_frp=_final(n_not_phi, n_open, n),
        reference=reference.name,
        relative_tdp=unknown if is_unknown else ratio.rtdp,
        relative_frp=unknown if is_unknown else ratio.rfrp,
    )


def _final(n_sure: int, n_open: int, n: int) -> Final:
    """Return the bounds of a figure over all possible verdicts on the unverified files."""
    least = tdp_frp(n_sure, 0, n - n_sure).tdp
    most = tdp_frp(n_sure + n_open, 0, n - n_sure - n_open).tdp
    if least.ci95 is None or most.ci95 is None:
        return Final(None, None, None, NOTHING_READ)
    return Final(least.value, most.value, (least.ci95[0], most.ci95[1]))


def overall(files: Sequence[FileRecord], referred: frozenset[int]) -> Characteristic:
    """Evaluate the whole screen: the file was referred to review; it may have marked no file."""
    screen = Screen("referred", _("Referred to review"), "", referred)
    return _evaluate(screen, screen, _Decided(files))


ASSUMPTION = _(
    "The decided files stand for the files to be ordered, and every verdict is right. "
    "Most of them were chosen by the screen (verification bias), so these figures say "
    "how well the queue's order works, not how well the score finds PHI on the whole "
    "share."
)
_AREA_SOURCE = _("Boyd (2014), chapter 4; Boyd, Eng & Page (2013); interval: logit interval with n positives")
_REGION_SOURCE = _("Boyd, Santos Costa, Davis & Page (2012); Boyd (2014), chapter 3")
_NO_ASSUMPTION = _("None: it follows from the two counts alone.")
_MAX_POINTS = 200  # of a curve; more cannot be distinguished on the page

SCORES = (("risk", _("Risk, the order of the queue")), ("health_score", _("Health score")))


def rankings(rows: Sequence[FileRecord]) -> tuple[ScoreRanking, ...]:
    """Evaluate the ranking of the decided files by each score.

    Args:
        rows: the files that were read.
    """
    return tuple(_one(name, label, rows) for name, label in SCORES)


def _one(name: str, label: str, rows: Sequence[FileRecord]) -> ScoreRanking:
    decided = [row for row in rows if row.verdict in {Verdict.PHI, Verdict.NOT_PHI}]
    pairs = [(score, row) for row in decided if (score := getattr(row, name)) is not None]
    labels = [row.verdict is Verdict.PHI for _, row in pairs]
    phi, not_phi = sum(labels), len(labels) - sum(labels)
    reason = _reason(phi, not_phi)
    ranked = None if reason else ranking.rank([score for score, _ in pairs], labels)
    return ScoreRanking(
        score=name,
        label=label,
        phi=phi,
        not_phi=not_phi,
        not_referred=sum(row.referral is not Referral.REFERRED for _, row in pairs),
        no_score=len(decided) - len(pairs),
        estimates=_estimates(ranked) if ranked else (),
        curve=_curve(ranked) if ranked else (),
        reason=reason,
        assumption=ASSUMPTION,
    )


def _reason(phi: int, not_phi: int) -> str | None:
    if phi and not_phi:
        return None
    if phi + not_phi == 0:
        return _("no file with this score has a verdict yet")
    return (
        _("every decided file is PHI; an order needs both kinds")
        if phi
        else _("every decided file is not PHI; an order needs both kinds")
    )


def _estimates(ranked: ranking.Ranking) -> tuple[Estimate, ...]:
    n, m = ranked.n, ranked.m
    counts: dict[str, float] = {_("n (decided as PHI)"): n, _("m (decided as not PHI)"): m}

    def area(name: str, value: float, size: int, formula: str, source: str) -> Estimate:
        interval = ranking.logit_interval(value, size)
        reason = interval.reason or None
        return Estimate(name, value, interval.ends, "ratio", formula, counts, ASSUMPTION, source, reason)

    def from_counts(name: str, value: float, formula: str, inputs: dict[str, float]) -> Estimate:
        return Estimate(name, value, None, "ratio", formula, inputs, _NO_ASSUMPTION, _REGION_SOURCE, None)

    return (
        area(
            _("Average precision"),
            ranking.average_precision(ranked),
            n,
            _("mean over the PHI files of the precision at their score; tied files share one threshold"),
            _AREA_SOURCE,
        ),
        area(
            _("Area under the precision-recall curve, lower trapezoid"),
            ranking.lower_trapezoid(ranked),
            n,
            _("Σ (r₂ - r₁) (lowest p₁ + highest p₂) / 2 over neighbouring recalls"),
            _AREA_SOURCE,
        ),
        area(
            _("Area under the precision-recall curve, interpolated median"),
            ranking.interpolated_median(ranked),
            n,
            _("Σ ∫ r / (a r + b) dr between the median points of neighbouring recalls"),
            _AREA_SOURCE,
        ),
        # Its variance is at most A(1 - A) over the smaller class (Birnbaum & Klose 1957), so that a logit
        # interval with that size is never too narrow for its variance.
        area(
            _("Area under the ROC curve"),
            ranking.auc_roc(ranked),
            min(n, m),
            _("share of the n m pairs in which the PHI file has the higher score; a tie counts one half"),
            _(
                "Bamber (1975); interval: logit, with min(n, m) as its size, after the variance "
                "bound of Birnbaum & Klose (1957), Ann. Math. Stat. 28:933"
            ),
        ),
        from_counts(_("Skew"), ranked.skew, "n / (n + m)", counts),
        from_counts(
            _("Minimum area under the precision-recall curve"),
            ranking.minimum_aucpr(ranked.skew),
            _("1 + (1 - π) ln(1 - π) / π"),
            {_("π (skew)"): ranked.skew},
        ),
        from_counts(
            _("Minimum average precision"),
            ranking.minimum_average_precision(n, m),
            _("Σ i / (i + m) / n over i = 1 … n: the worst order there is"),
            counts,
        ),
    )


def _curve(ranked: ranking.Ranking) -> tuple[tuple[float, float], ...]:
    points = ranking.curve(ranked)
    size = len(points.recall)
    kept = np.unique(np.linspace(0, size - 1, min(_MAX_POINTS, size)).astype(int))
    return tuple(zip(points.recall[kept].tolist(), points.precision[kept].tolist(), strict=True))
