"""How far people agree on the files that two or more of them decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

from phiscan.language import lazy_gettext as _
from phiscan.metrics.agreement import ASSUMPTION, SOURCE
from phiscan.report.data.estimates import DoubleReview
from phiscan.report.data.rater_pairs import alpha, reviewer_pair
from phiscan.review.records.items import Decision

NO_PERSON = _("no file was decided by two people")

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
        pairs=tuple(
            reviewer_pair(
                (first, second), [(verdicts.get(first), verdicts.get(second)) for verdicts in said.values()]
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
    """Return the last verdict of each person by file and content."""
    said: dict[Subject, dict[str, str]] = {}
    for made in decisions:
        said.setdefault((made.file_id, made.content_hash), {})[made.reviewer] = str(made.verdict)
    return said
