"""The view of the second review: agreement of the reviewers, and the disagreements to settle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from phiscan.language import gettext as _
from phiscan.metrics.agreement import ASSUMPTION, SOURCE, Agreement, agreement, krippendorff_alpha
from phiscan.metrics.intervals import Figure
from phiscan.model import Verdict
from phiscan.review.decisions.second_review import Disagreement, Rating, SecondReviewCounts
from phiscan.review.worklist.model import REASONS
from phiscan.visible import visible
from phiscan.web.views.queue import place_words, verdict_words

_LABELS = {name: label for chosen in REASONS.values() for name, label in chosen}


@dataclass(frozen=True, slots=True)
class Pair:
    """The number of pairs with a given first and second verdict."""

    first: str
    second: str
    n: int
    agreed: bool


@dataclass(frozen=True, slots=True)
class SecondView:
    """The content of the page of the second review."""

    counts: SecondReviewCounts
    share: float  # of decisions that get a second review
    agreement: Agreement
    alpha: Figure
    pairs: tuple[Pair, ...]
    assumption: str = ASSUMPTION
    source: str = SOURCE

    @property
    def figures(self) -> tuple[tuple[str, Figure], ...]:
        """The four figures with their names."""
        return (
            (_("Cohen's kappa"), self.agreement.kappa),
            (_("Positive agreement"), self.agreement.positive_agreement),
            ("PABAK", self.agreement.pabak),
            (_("Krippendorff's alpha"), self.alpha),
        )


@dataclass(frozen=True, slots=True)
class Words:
    """A run of words of a note, and whether the other note lacks them."""

    text: str
    differs: bool


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two verdicts; of each part, whether it differs from the other's."""

    reviewer: str
    verdict: str
    reason: str
    reason_differs: bool
    note: tuple[Words, ...]


@dataclass(frozen=True, slots=True)
class DisagreementView:
    """Two verdicts that differ, for the lead."""

    case: Disagreement
    name: str
    folder: str
    sides: tuple[Side, Side]


def second_view(counts: SecondReviewCounts, ratings: Sequence[Rating], *, share: float) -> SecondView:
    """Build the figures; nothing is read from the database."""
    first = [rating.first.value for rating in ratings]
    second = [rating.second.value for rating in ratings]
    met = Counter((rating.first, rating.second) for rating in ratings)
    return SecondView(
        counts=counts,
        share=share,
        agreement=agreement(first, second),
        alpha=krippendorff_alpha(list(zip(first, second, strict=True))),
        pairs=tuple(
            Pair(verdict_words(a), verdict_words(b), n, agreed=a is b)
            for (a, b), n in sorted(met.items(), key=lambda one: (-one[1], one[0]))
        ),
    )


def disagreement_view(case: Disagreement) -> DisagreementView:
    """Return the view of one disagreement."""
    folder, _slash, name = case.path.rpartition("/")
    return DisagreementView(
        case=case,
        name=visible(name),
        folder=place_words(case.root, folder),
        sides=(
            _side(
                case.first_reviewer,
                case.first,
                (case.first_reason, case.second_reason),
                (case.first_note, case.second_note),
            ),
            _side(
                case.second_reviewer,
                case.second,
                (case.second_reason, case.first_reason),
                (case.second_note, case.first_note),
            ),
        ),
    )


def _side(reviewer: str, verdict: Verdict, reasons: tuple[str, str], notes: tuple[str, str]) -> Side:
    """Return one verdict compared with the other; reasons and notes begin with its own."""
    own, other = reasons
    return Side(
        reviewer=visible(reviewer),
        verdict=verdict.value,
        reason=_LABELS.get(own, visible(own)),
        reason_differs=own != other,
        note=differing_words(visible(notes[0]), visible(notes[1])),
    )


def differing_words(own: str, other: str) -> tuple[Words, ...]:
    """Split a note into runs of words that the other note has too, and runs that it lacks.

    >>> [(run.text, run.differs) for run in differing_words("a form letter", "a real letter")]
    [('a', False), ('form', True), ('letter', False)]
    """
    words = own.split()
    compared = SequenceMatcher(None, words, other.split(), autojunk=False)
    runs = []
    for kind, start, end, *_rest in compared.get_opcodes():
        if start < end:
            runs.append(Words(" ".join(words[start:end]), kind != "equal"))
    return tuple(runs)
