"""Agreement of reviewers: on files that several of them decided, and in blind second verdicts.

In a blind second review the second reviewer could not see the first verdict.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations

from phiscan.language import lazy_gettext as _
from phiscan.metrics.agreement import ASSUMPTION, POSITIVE, SOURCE, agreement, krippendorff_alpha
from phiscan.report.data.desk import BlindReview
from phiscan.report.data.estimates import DoubleReview, Estimate, ReviewerPair
from phiscan.review.decisions.second_review import Rating
from phiscan.review.records.items import Decision
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


NO_PERSON = _("no file was decided by two people")
NONE_DRAWN = _("no decision of this scan was drawn for a blind second review")
NONE_GIVEN = _("no blind second verdict has been given yet")
BLIND_ASSUMPTION = _(
    "The second person did not see the first verdict, which the desk sees to, and the "
    "decisions were drawn at random, which it does too. They stand for decisions of the "
    "same people; a first verdict that its reviewer replaced counts as replaced, a "
    "lead's settlement as neither."
)


def double_review(decisions: Sequence[Decision]) -> DoubleReview:
    """Compare the latest verdict of each reviewer on each content; identical files have one.

    Args:
        decisions: about the files of a scan, oldest first.
    """
    latest = _latest(decisions)
    shared = {content: verdicts for content, verdicts in latest.items() if len(verdicts) > 1}
    together = Counter(pair for verdicts in shared.values() for pair in combinations(sorted(verdicts), 2))
    return DoubleReview(
        files=len(shared),
        pairs=tuple(
            reviewer_pair(
                (first, second), [(verdicts.get(first), verdicts.get(second)) for verdicts in latest.values()]
            )
            for first, second in sorted(together)
        ),
        alpha=alpha(
            [list(verdicts.values()) for verdicts in shared.values()],
            name=_("all people together"),
            over=_("all pairs of verdicts on the same file"),
            assumption=ASSUMPTION,
        ),
        reason=None if shared else NO_PERSON,
        assumption=ASSUMPTION,
        source=SOURCE,
    )


def _latest(decisions: Sequence[Decision]) -> Mapping[str, Mapping[str, str]]:
    """Return the last verdict of each reviewer by content."""
    latest: dict[str, dict[str, str]] = {}
    for made in decisions:
        latest.setdefault(made.content_hash, {})[made.reviewer] = str(made.verdict)
    return latest


def blind_review(drawn: int, ratings: Sequence[Rating], *, held_back: int) -> BlindReview:
    """Compare first and second verdicts.

    Args:
        drawn: decisions that were drawn for a second review.
        ratings: of them, those with both verdicts.
        held_back: files whose first verdict this report does not show yet.
    """
    pairs = [_verdicts(one) for one in ratings]
    found = agreement([first for first, _ in pairs], [second for _, second in pairs])
    by_pair: dict[tuple[str, str], list[Rating]] = defaultdict(list)
    for one in ratings:
        by_pair[one.first_reviewer, one.second_reviewer].append(one)
    agreed = sum(first == second for first, second in pairs)
    return BlindReview(
        drawn=drawn,
        held_back=held_back,
        compared=len(ratings),
        agreed=agreed,
        disagreed=len(ratings) - agreed,
        settled=sum(one.settled is not None for one in ratings),
        kappa=found.kappa,
        positive_agreement=found.positive_agreement,
        pabak=found.pabak,
        alpha=alpha(
            pairs,
            name=_("first and blind second verdict"),
            over=_("the two verdicts on the same file"),
            assumption=BLIND_ASSUMPTION,
        ),
        pairs=tuple(
            reviewer_pair(names, [_verdicts(one) for one in some]) for names, some in sorted(by_pair.items())
        ),
        reason=None if ratings else NONE_GIVEN if drawn else NONE_DRAWN,
        assumption=BLIND_ASSUMPTION,
        source=SOURCE,
    )


def _verdicts(one: Rating) -> tuple[str, str]:
    return str(one.first), str(one.second)
