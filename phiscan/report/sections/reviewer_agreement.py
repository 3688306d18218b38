"""Agreement of reviewers: on files that several of them decided, and in blind second verdicts.

In a blind second review the second reviewer could not see the first verdict.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations

from phiscan.language import lazy_gettext as _
from phiscan.metrics.agreement import ASSUMPTION, SOURCE, agreement
from phiscan.report.data.desk import BlindReview
from phiscan.report.data.estimates import DoubleReview
from phiscan.report.data.rater_pairs import alpha, reviewer_pair
from phiscan.review.decisions.second_review import Rating
from phiscan.review.records.items import Decision

NO_PERSON = _("no file was decided by two people")
NONE_DRAWN = _("no decision of this scan was drawn for a blind second review")
NONE_GIVEN = _("no blind second verdict has been given yet")
BLIND_ASSUMPTION = _(
    "The second person did not see the first verdict, which the desk sees to, and the "
    "decisions were drawn at random, which it does too. They stand for decisions of the "
    "same people; a first verdict that its reviewer replaced counts as replaced, a "
    "lead's settlement as neither."
)

Subject = tuple[int, str]  # a file and its content: a changed file is another subject


def double_review(decisions: Sequence[Decision]) -> DoubleReview:
    """Compare the latest verdict of each reviewer on each file and content.

    Args:
        decisions: about the files of a scan, oldest first.
    """
    latest = _latest(decisions)
    shared = {subject: verdicts for subject, verdicts in latest.items() if len(verdicts) > 1}
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


def _latest(decisions: Sequence[Decision]) -> Mapping[Subject, Mapping[str, str]]:
    """Return the last verdict of each reviewer by file and content."""
    latest: dict[Subject, dict[str, str]] = {}
    for made in decisions:
        latest.setdefault((made.file_id, made.content_hash), {})[made.reviewer] = str(made.verdict)
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
