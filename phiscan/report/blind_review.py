"""How far the blind second verdicts agree with the first: agreement that the second person could not copy."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from phiscan.metrics.agreement import POSITIVE, SOURCE, agreement, krippendorff_alpha
from phiscan.report.data_desk import BlindReview
from phiscan.report.data_estimated import Estimate, ReviewerPair
from phiscan.report.words import visible
from phiscan.review.second_review import Rating

NONE_DRAWN = "no decision of this scan was drawn for a blind second review"
NONE_GIVEN = "no blind second verdict has been given yet"
ASSUMPTION = (
    "The second person did not see the first verdict, which the desk sees to, and the decisions were drawn at"
    " random, which it does too. They stand for decisions of the same people; a first verdict that its"
    " reviewer replaced counts as replaced, a lead's settlement as neither."
)


def blind_review(drawn: int, ratings: Sequence[Rating], *, held_back: int) -> BlindReview:
    """Compare first and second verdicts.

    Args:
        drawn: decisions that went to a second person.
        ratings: those of them that have both verdicts.
        held_back: files whose first verdict this report does not show yet.
    """
    firsts = [str(one.first) for one in ratings]
    seconds = [str(one.second) for one in ratings]
    found = agreement(firsts, seconds)
    by_pair: dict[tuple[str, str], list[Rating]] = defaultdict(list)
    for one in ratings:
        by_pair[one.first_reviewer, one.second_reviewer].append(one)
    agreed = sum(a == b for a, b in zip(firsts, seconds, strict=True))
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
        alpha=_alpha(firsts, seconds),
        pairs=tuple(_pair(names, some) for names, some in sorted(by_pair.items())),
        reason=None if ratings else NONE_GIVEN if drawn else NONE_DRAWN,
        assumption=ASSUMPTION,
        source=SOURCE,
    )


def _pair(names: tuple[str, str], some: Sequence[Rating]) -> ReviewerPair:
    firsts, seconds = [str(one.first) for one in some], [str(one.second) for one in some]
    found = agreement(firsts, seconds)
    return ReviewerPair(
        first=visible(names[0]),
        second=visible(names[1]),
        files=found.n_both,
        same=sum(a == b for a, b in zip(firsts, seconds, strict=True)),
        both_phi=sum(a == b == POSITIVE for a, b in zip(firsts, seconds, strict=True)),
        first_phi=firsts.count(POSITIVE),
        second_phi=seconds.count(POSITIVE),
        kappa=found.kappa,
        positive_agreement=found.positive_agreement,
        pabak=found.pabak,
    )


def _alpha(firsts: Sequence[str], seconds: Sequence[str]) -> Estimate:
    found = krippendorff_alpha(list(zip(firsts, seconds, strict=True)))
    counts = Counter([*firsts, *seconds])
    inputs: dict[str, float] = {"files": len(firsts)}
    inputs |= {f"verdicts '{label.replace('_', ' ')}'": n for label, n in sorted(counts.items())}
    return Estimate(
        name="Krippendorff's alpha, first and blind second verdict",
        value=found.value,
        ci95=found.ci95,
        unit="ratio",
        formula="1 - observed / expected disagreement, over the two verdicts on the same file",
        inputs=inputs,
        assumption=ASSUMPTION,
        source='Krippendorff (2019), "Content Analysis", section 12.3',
        reason=found.reason,
    )
