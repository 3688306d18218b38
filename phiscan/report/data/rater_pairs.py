"""Agreement figures of pairs or groups of reviewers, for both blind and ordinary double review."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from phiscan.language import lazy_gettext as _
from phiscan.metrics.agreement import POSITIVE, agreement, krippendorff_alpha
from phiscan.report.data.estimates import Estimate, ReviewerPair
from phiscan.visible import visible

Row = tuple[str | None, str | None]  # the verdicts of two reviewers on one file; None = none


def reviewer_pair(names: tuple[str, str], rows: Sequence[Row]) -> ReviewerPair:
    """Count the pairs of verdicts and compute their agreement."""
    found = agreement([row[0] for row in rows], [row[1] for row in rows])
    both = [row for row in rows if None not in row]
    return ReviewerPair(
        first=visible(names[0]),
        second=visible(names[1]),
        files=found.n_both,
        same=sum(a == b for a, b in both),
        both_phi=sum(a == b == POSITIVE for a, b in both),
        first_phi=sum(a == POSITIVE for a, _ in both),
        second_phi=sum(b == POSITIVE for _, b in both),
        kappa=found.kappa,
        positive_agreement=found.positive_agreement,
        pabak=found.pabak,
    )


def alpha(units: Sequence[Sequence[str]], *, name: str, over: str, assumption: str) -> Estimate:
    """Return Krippendorff's alpha over the verdicts on each file.

    Args:
        units: verdicts by file.
        name: name of the estimate.
        over: which verdicts are compared, to complete "observed / expected disagreement, over ...".
        assumption: what it assumes.
    """
    found = krippendorff_alpha(list(units))
    counts = Counter(verdict for verdicts in units for verdict in verdicts)
    inputs: dict[str, float] = {_("files"): len(units)}
    inputs |= {
        _("verdicts '{value}'", value=label.replace("_", " ")): n for label, n in sorted(counts.items())
    }
    return Estimate(
        name=_("Krippendorff's alpha, {name}", name=name),
        value=found.value,
        ci95=found.ci95,
        unit="ratio",
        formula=_("1 - observed / expected disagreement, over {over}", over=over),
        inputs=inputs,
        assumption=assumption,
        source=_('Krippendorff (2019), "Content Analysis", section 12.3'),
        reason=found.reason,
    )
