"""The performance figures of a scan with differential privacy; the exact ones do not leave this module."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from phiscan import __version__
from phiscan.errors import InputError
from phiscan.language import lazy_gettext as _
from phiscan.metrics.ranking.differential_privacy import noise_scale, release
from phiscan.metrics.ranking.precision_recall import average_precision
from phiscan.metrics.ranking.ranked import rank
from phiscan.metrics.ranking.scores import auc_roc
from phiscan.model import Referral, Verdict
from phiscan.report.data.private import PrivateData, PrivateFigure
from phiscan.report.data.scan_rows import read_decided
from phiscan.report.private.ledger import Charge, charge, roots_id
from phiscan.review.records.items import FileRow
from phiscan.store.database import Database

SOURCE = _(
    "Dwork et al. (2006); Nissim, Raskhodnikova & Smith (2007); Boyd (2014), chapter 5; "
    "Boyd, Lantz & Page (2015)"
)
PROTECTS = _(
    "One file: its verdict, whether it was referred and its score. Whoever sees these "
    "figures can hardly tell whether any one file was other than it is. The two sizes "
    "are published as they are."
)
LIMITS = (
    _("A person who appears in many files is protected less, in proportion to the number of files."),
    _("The order of the queue is judged on decided files only, most of which the screen chose."),
    _("Every further release about the same folders adds to what is spent, up to the budget of the ledger."),
    _("A figure may lie outside 0 to 1: that is noise. It was not cut, so that averages stay right."),
    _("Nothing else of the scan is in this pack. The full report is for those who may see the files."),
)
DROWNED = 0.1  # half-width of 95 % of the noise
_RANKED = (
    ("auc_roc", _("AUCROC of the queue's order")),
    ("average_precision", _("Average precision of the order")),
)
_ON_DATA = _("the width of the noise depends on the data and must not be published")
_NONE_DECIDED = _("no file has been decided")
_NOTHING_READ = _("no file was read")
_N_RELEASES = 4


def private_report(
    database: Database,
    scan_id: int | None = None,
    *,
    home: Path,
    epsilon: float,
    delta: float,
    now: datetime,
) -> PrivateData:
    """Release the figures of a scan, the latest by default; the budget is recorded before noise is drawn.

    True and false referral probability and the two figures of the order get a quarter of epsilon each; the
    predictive value follows from the first two and costs nothing. With a delta, the figures of the order get
    Laplace noise and half of delta each, otherwise Cauchy noise.

    Args:
        database: the review database.
        scan_id: number of the scan.
        home: where the ledger is.
        epsilon: privacy loss of the whole release.
        delta: probability with which it may be larger.
        now: date of the report.

    Raises:
        InputError: epsilon or delta is not usable, or the budget of these folders does not allow the release.
        StoreError: there is no (such) scan.
    """
    scan, roots, rows = read_decided(database, scan_id)
    read = [row for row in rows if row.referral is not None]
    decided = [row for row in read if row.verdict in {Verdict.PHI, Verdict.NOT_PHI}]
    part, part_delta = epsilon / _N_RELEASES, delta / 2
    noise = "laplace" if delta else "cauchy"
    try:
        noise_scale("accuracy", 1, 1, epsilon=part, delta=part_delta, noise="laplace")
        noise_scale("auc_roc", 1, 1, epsilon=part, delta=part_delta, noise=noise)
    except ValueError as error:
        message = f"--private-epsilon, --private-delta: {error}"
        raise InputError(message) from None
    spent = charge(home, roots_id(home, roots), Charge("report", f"laplace, {noise}", epsilon, delta), None)
    tdp = _share("tdp", _("True detection probability"), read, Verdict.PHI, part)
    frp = _share("frp", _("False referral probability"), read, Verdict.NOT_PHI, part)
    return PrivateData(
        scan=scan,
        made=now,
        phiscan=__version__,
        read=len(read),
        decided=len(decided),
        figures=(
            tdp,
            frp,
            _predictive_value(tdp, frp),
            *(_ranked(name, label, decided, part, part_delta, noise) for name, label in _RANKED),
        ),
        epsilon=epsilon,
        delta=delta,
        spent_epsilon=spent.epsilon,
        spent_delta=spent.delta,
        protects=PROTECTS,
        limits=LIMITS,
        source=SOURCE,
    )


def _share(name: str, label: str, read: Sequence[FileRow], verdict: Verdict, epsilon: float) -> PrivateFigure:
    """Release the share of the read files that were referred and have a verdict.

    One file changes it by 1/n, as it changes an accuracy.
    """
    if not read:
        return PrivateFigure(name, label, None, None, "laplace", epsilon, 0.0, "", _NOTHING_READ)
    n_such = sum(row.referral is Referral.REFERRED and row.verdict is verdict for row in read)
    needed = noise_scale("accuracy", n_such, len(read) - n_such, epsilon=epsilon, delta=0.0, noise="laplace")
    value = release(n_such / len(read), needed.scale, "laplace")
    return PrivateFigure(
        name, label, value, needed.half_width, "laplace", epsilon, 0.0, _warning(drowns=needed.drowns), None
    )


def _predictive_value(tdp: PrivateFigure, frp: PrivateFigure) -> PrivateFigure:
    """Compute PPV = TDP / (TDP + FRP) from released figures, which costs no budget."""
    label = _("Positive predictive value")
    of = _("from the two above")
    if tdp.value is None or frp.value is None:
        return PrivateFigure("ppv", label, None, None, of, 0.0, 0.0, "", tdp.reason)
    marked = tdp.value + frp.value
    if tdp.value < 0 or frp.value < 0 or marked <= 0:
        return PrivateFigure("ppv", label, None, None, of, 0.0, 0.0, "", _("noise drowns the two above"))
    reason = _("a ratio of two noisy figures: no distance is computed")
    return PrivateFigure("ppv", label, tdp.value / marked, None, of, 0.0, 0.0, "", reason)


def _ranked(  # noqa: PLR0917 (one release is all of these)
    name: str, label: str, decided: Sequence[FileRow], epsilon: float, delta: float, noise: str
) -> PrivateFigure:
    """Release the ranking figures; if all files are of one kind, a constant is released instead.

    A missing figure would reveal that all files are of one kind.
    """
    if not decided:
        return PrivateFigure(name, label, None, None, noise, epsilon, delta, "", _NONE_DECIDED)
    labels = [row.verdict is Verdict.PHI for row in decided]
    n, m = sum(labels), len(labels) - sum(labels)
    if n and m:
        ranked = rank([row.risk for row in decided], labels)
        true = auc_roc(ranked) if name == "auc_roc" else average_precision(ranked)
    else:
        true = 0.5 if name == "auc_roc" else float(n > 0)
    needed = noise_scale(name, n, m, epsilon=epsilon, delta=delta, noise=noise)
    # The least noise of any data set of this size: public, as the size is.
    total = n + m
    least = min(
        noise_scale(name, size, total - size, epsilon=epsilon, delta=delta, noise=noise).half_width
        for size in {total // 2, total}
    )
    return PrivateFigure(
        name=name,
        label=label,
        value=release(true, needed.scale, noise),
        noise95=None,
        mechanism=noise,
        epsilon=epsilon,
        delta=delta,
        warning=_warning(drowns=least >= DROWNED),
        reason=_ON_DATA,
    )


def _warning(*, drowns: bool) -> str:
    return _("the noise drowns the figure: too few files for this epsilon") if drowns else ""
