"""Second review: agreement of the reviewers, and the disagreements that a lead settles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Annotated

from fastapi import Form, Request
from starlette.responses import RedirectResponse, Response

from phiscan.errors import ConflictError
from phiscan.language import gettext as _
from phiscan.metrics.agreement import ASSUMPTION, SOURCE, Agreement, agreement, krippendorff_alpha
from phiscan.metrics.intervals import Figure
from phiscan.model import Verdict
from phiscan.review.accounts.users import User
from phiscan.review.decisions.second_review import Disagreement, Rating, SecondReviewCounts
from phiscan.review.worklist.model import REASONS, FileRecord
from phiscan.visible import visible
from phiscan.web.access import Permission, Routes
from phiscan.web.notices import notice
from phiscan.web.request_context import Desk, DeskNow
from phiscan.web.routes.item import is_reason_of
from phiscan.web.routes.queue import place_words, verdict_words
from phiscan.web.session import SignedIn
from phiscan.web.views.item import why_words
from phiscan.web.work_query import ListQuery

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
    why: str  # the evidence: the strongest reasons in one sentence
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


def disagreement_view(case: Disagreement, detail: FileRecord) -> DisagreementView:
    """Return the view of one disagreement with the evidence of its file."""
    folder, _slash, name = case.path.rpartition("/")
    return DisagreementView(
        case=case,
        name=visible(name),
        folder=place_words(case.root, folder),
        why=why_words(detail),
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


routes = Routes()


@routes.page("GET", "/second-review", needs=Permission.SEE_QUEUE)
def second_review(request: Request, desk: DeskNow) -> Response:
    """Show the progress of the second review, and the agreement of the reviewers."""
    work = desk.store.desk
    view = second_view(work.second_review_counts(), work.ratings(), share=work.policy().second_review)
    return desk.pages.render(request, "second_review.html", v=view)


@dataclass(frozen=True, slots=True)
class UnsentNote:
    """A note that was not recorded with the verdict on a case; shown again in the form."""

    id: int = 0
    note: str = ""


@routes.page("GET", "/adjudication", needs=Permission.ADJUDICATE)
def adjudication(request: Request, user: SignedIn, desk: DeskNow) -> Response:
    """List the disagreements that this lead may adjudicate: both verdicts and the evidence."""
    return _cases(request, user, desk, notice_name=request.query_params.get("said", ""))


def _cases(
    request: Request, user: User, desk: Desk, *, notice_name: str, unsent: UnsentNote | None = None
) -> Response:
    work, now = desk.store.desk, desk.now()
    cases = [
        disagreement_view(case, work.detail(case.file_id, viewer=user.name, now=now))
        for case in work.disagreements(lead=user.name)
    ]
    return desk.pages.render(
        request,
        "adjudication.html",
        status_code=409 if unsent else 200,
        cases=cases,
        unsent=unsent or UnsentNote(),
        reasons=tuple((verdict_words(verdict), chosen) for verdict, chosen in REASONS.items()),
        notice=notice(notice_name),
        query=ListQuery(),
    )


@routes.page("POST", "/adjudication/{second_review_id}", needs=Permission.ADJUDICATE)
def adjudicate(
    second_review_id: int,
    request: Request,
    user: SignedIn,
    desk: DeskNow,
    verdict: Annotated[Verdict, Form()],
    reason: Annotated[str, Form(max_length=200)] = "",
    note: Annotated[str, Form(max_length=10_000)] = "",
) -> Response:
    """Settle a disagreement by the lead's verdict."""
    if not is_reason_of(reason, verdict):
        return _cases(request, user, desk, notice_name="reason", unsent=UnsentNote(second_review_id, note))
    try:
        desk.store.desk.adjudicate(
            second_review_id, verdict, lead=user.name, now=desk.now(), reason=reason, note=note
        )
    except ConflictError:
        return _cases(
            request, user, desk, notice_name="settled_before", unsent=UnsentNote(second_review_id, note)
        )
    return RedirectResponse("/adjudication?said=settled", 303)
