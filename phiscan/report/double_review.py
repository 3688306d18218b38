"""How far people agree on the files that two or more of them decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

from phiscan.metrics.agreement import ASSUMPTION, POSITIVE, SOURCE, agreement, krippendorff_alpha
from phiscan.report.data_estimated import DoubleReview, Estimate, ReviewerPair
from phiscan.report.words import visible
from phiscan.review.items import Decision

NOBODY = "no file was decided by two people"

Subject = tuple[int, str]  # a file and its content: a changed file is another one to judge


def double_review(decisions: Sequence[Decision]) -> DoubleReview:
    """Compare the latest verdict of each person on each file and content.

    Args:
        decisions: about the files of a scan, oldest first.
    """
    said = _latest(decisions)
    shared = {subject: verdicts for subject, verdicts in said.items() if len(verdicts) > 1}
    together = Counter(pair for verdicts in shared.values() for pair in combinations(sorted(verdicts), 2))
    return DoubleReview(
        files=len(shared),
        pairs=tuple(_pair(first, second, said) for first, second in sorted(together)),
        alpha=_alpha(shared),
        reason=None if shared else NOBODY,
        assumption=ASSUMPTION,
        source=SOURCE,
    )


def _latest(decisions: Sequence[Decision]) -> Mapping[Subject, Mapping[str, str]]:
    """Return the last verdict of each person by file and content."""
    said: dict[Subject, dict[str, str]] = {}
    for made in decisions:
        said.setdefault((made.file_id, made.content_hash), {})[made.reviewer] = str(made.verdict)
    return said


def _pair(first: str, second: str, said: Mapping[Subject, Mapping[str, str]]) -> ReviewerPair:
    rows = [(verdicts.get(first), verdicts.get(second)) for verdicts in said.values()]
    found = agreement([row[0] for row in rows], [row[1] for row in rows])
    both = [row for row in rows if None not in row]
    return ReviewerPair(
        first=visible(first),
        second=visible(second),
        files=found.n_both,
        same=sum(a == b for a, b in both),
        both_phi=sum(a == b == POSITIVE for a, b in both),
        first_phi=sum(a == POSITIVE for a, _ in both),
        second_phi=sum(b == POSITIVE for _, b in both),
        kappa=found.kappa,
        positive_agreement=found.positive_agreement,
        pabak=found.pabak,
    )


def _alpha(shared: Mapping[Subject, Mapping[str, str]]) -> Estimate:
    found = krippendorff_alpha([list(verdicts.values()) for verdicts in shared.values()])
    counts = Counter(verdict for verdicts in shared.values() for verdict in verdicts.values())
    inputs: dict[str, float] = {"files": len(shared)}
    inputs |= {f"verdicts '{label.replace('_', ' ')}'": n for label, n in sorted(counts.items())}
    return Estimate(
        name="Krippendorff's alpha, all people together",
        value=found.value,
        ci95=found.ci95,
        unit="ratio",
        formula="1 - observed / expected disagreement, over all pairs of verdicts on the same file",
        inputs=inputs,
        assumption=ASSUMPTION,
        source='Krippendorff (2019), "Content Analysis", section 12.3',
        reason=found.reason,
    )
