"""How far the blind second verdicts agree with the first: agreement that the second person could not copy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from phiscan.language import lazy_gettext as _
from phiscan.metrics.agreement import SOURCE, agreement
from phiscan.report.data.desk import BlindReview
from phiscan.report.data.rater_pairs import alpha, reviewer_pair
from phiscan.review.decisions.second_review import Rating

NONE_DRAWN = _("no decision of this scan was drawn for a blind second review")
NONE_GIVEN = _("no blind second verdict has been given yet")
ASSUMPTION = _(
    "The second person did not see the first verdict, which the desk sees to, and the "
    "decisions were drawn at random, which it does too. They stand for decisions of the "
    "same people; a first verdict that its reviewer replaced counts as replaced, a "
    "lead's settlement as neither."
)


def blind_review(drawn: int, ratings: Sequence[Rating], *, held_back: int) -> BlindReview:
    """Compare first and second verdicts.

    Args:
        drawn: decisions that went to a second person.
        ratings: those of them that have both verdicts.
        held_back: files whose first verdict this report does not show yet.
    """
    said = [_said(one) for one in ratings]
    found = agreement([first for first, _ in said], [second for _, second in said])
    by_pair: dict[tuple[str, str], list[Rating]] = defaultdict(list)
    for one in ratings:
        by_pair[one.first_reviewer, one.second_reviewer].append(one)
    agreed = sum(first == second for first, second in said)
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
            said,
            name=_("first and blind second verdict"),
            over=_("the two verdicts on the same file"),
            assumption=ASSUMPTION,
        ),
        pairs=tuple(
            reviewer_pair(names, [_said(one) for one in some]) for names, some in sorted(by_pair.items())
        ),
        reason=None if ratings else NONE_GIVEN if drawn else NONE_DRAWN,
        assumption=ASSUMPTION,
        source=SOURCE,
    )


def _said(one: Rating) -> tuple[str, str]:
    return str(one.first), str(one.second)
