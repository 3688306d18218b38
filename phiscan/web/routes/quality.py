"""What reviewers may have missed: random sample, second list, second review, adjudication, policy."""

from __future__ import annotations

from collections import Counter
from difflib import SequenceMatcher
from typing import Annotated, Any

from fastapi import Form
from starlette.responses import RedirectResponse, Response

from phiscan.errors import ConflictError
from phiscan.language import gettext as _
from phiscan.metrics.agreement import ASSUMPTION, agreement, krippendorff_alpha
from phiscan.metrics.remaining import ASSUMPTION as LEFT_ASSUMPTION
from phiscan.metrics.remaining import remaining
from phiscan.model import Verdict
from phiscan.review.decisions.verdicts import Disagreement
from phiscan.review.worklist.model import REASONS, FileRecord
from phiscan.visible import visible
from phiscan.web.access import Permission, Routes
from phiscan.web.request_context import Context, Ctx
from phiscan.web.routes.item import why_words
from phiscan.web.routes.queue import Line, Note, is_reason_of, verdict_words

Drawn = Annotated[int, Form(ge=0, le=100_000)]

routes = Routes()


@routes.page("GET", "/left", needs=Permission.SEE_QUEUE)
def left(ctx: Ctx) -> Response:
    """Show what is left in the list and what was missed in the rest, with the assumption."""
    work = ctx.work
    counts = work.left()
    return ctx.page(
        "left.html",
        k=remaining(counts),
        samples=((_("Of the list, reviewed"), counts.listed), (_("Of the rest, reviewed"), counts.rest)),
        assumption=LEFT_ASSUMPTION,
        draw=work.last_draw(),
        policy=work.policy(),
    )


@routes.page("POST", "/left/draw", needs=Permission.ASSIGN)
def draw(ctx: Ctx, n_queued: Drawn, n_unreferred: Drawn) -> Response:
    """Draw the random sample; it replaces the previous one."""
    ctx.work.draw_sample(n_queued=n_queued, n_unreferred=n_unreferred, **ctx.by)
    return RedirectResponse("/left?said=drawn", 303)


@routes.page("POST", "/left/policy", needs=Permission.ASSIGN)
def policy(
    ctx: Ctx,
    second_review: Annotated[float, Form(ge=0, le=100)],
    hide_limit: Annotated[int, Form(ge=0, le=1_000_000)],
) -> Response:
    """Set the share of second reviews, and the size above which a suppression needs approval."""
    ctx.work.set_policy(second_review=second_review / 100, hide_limit=hide_limit, **ctx.by)
    return RedirectResponse("/left?said=policy", 303)


_LABELS = {name: label for chosen in REASONS.values() for name, label in chosen}


def _case(case: Disagreement, detail: FileRecord) -> dict[str, Any]:
    """Return what the page shows of a disagreement, each part marked that differs from the other's."""
    first = case.first_reviewer, case.first, case.first_reason, case.first_note
    second = case.second_reviewer, case.second, case.second_reason, case.second_note
    sides = [
        {
            "reviewer": visible(reviewer),
            "verdict": verdict.value,
            "reason": _LABELS.get(reason, visible(reason)),
            "reason_differs": case.first_reason != case.second_reason,
            "note": differing_words(visible(note), visible(other)),
        }
        for (reviewer, verdict, reason, note), other in ((first, second[3]), (second, first[3]))
    ]
    return {"case": case, "why": why_words(detail), "sides": sides}


def differing_words(own: str, other: str) -> tuple[tuple[str, bool], ...]:
    """Split a note into runs of words, each with whether the other note lacks it.

    >>> differing_words("a form letter", "a real letter")
    (('a', False), ('form', True), ('letter', False))
    """
    words = own.split()
    compared = SequenceMatcher(None, words, other.split(), autojunk=False)
    return tuple(
        (" ".join(words[start:end]), kind != "equal")
        for kind, start, end, *_rest in compared.get_opcodes()
        if start < end
    )


@routes.page("GET", "/second-review", needs=Permission.SEE_QUEUE)
def second_review(ctx: Ctx) -> Response:
    """Show the progress of the second review, and the agreement of the reviewers."""
    work = ctx.work
    ratings = work.ratings()
    given = [(one.first.value, one.second.value) for one in ratings]
    agreed = agreement([first for first, _second in given], [second for _first, second in given])
    met = Counter((one.first, one.second) for one in ratings)
    return ctx.page(
        "second_review.html",
        counts=work.second_review_counts(),
        share=work.policy().second_review,
        figures=(
            (_("Cohen's kappa"), agreed.kappa),
            (_("Positive agreement"), agreed.positive_agreement),
            ("PABAK", agreed.pabak),
            (_("Krippendorff's alpha"), krippendorff_alpha(given)),
        ),
        pairs=[
            (verdict_words(a), verdict_words(b), n, a is b)
            for (a, b), n in sorted(met.items(), key=lambda one: (-one[1], one[0]))
        ],
        assumption=ASSUMPTION,
    )


@routes.page("GET", "/adjudication", needs=Permission.ADJUDICATE)
def adjudication(ctx: Ctx) -> Response:
    """List the disagreements that this lead may adjudicate: both verdicts and the evidence."""
    return _cases(ctx)


def _cases(ctx: Context, unsent: str = "", kept: tuple[int, str] = (0, "")) -> Response:
    """Return the page; after a rejected form with its reason and note, that of the case of a number."""
    return ctx.page(
        "adjudication.html",
        unsent=unsent,
        cases=[_case(case, ctx.detail(case.file_id)) for case in ctx.work.disagreements(lead=ctx.name)],
        kept=kept,
    )


@routes.page("POST", "/adjudication/{second_review_id}", needs=Permission.ADJUDICATE)
def adjudicate(
    second_review_id: int, ctx: Ctx, verdict: Annotated[Verdict, Form()], reason: Line = "", note: Note = ""
) -> Response:
    """Settle a disagreement by the lead's verdict."""
    if not is_reason_of(reason, verdict):
        return _cases(ctx, "reason", (second_review_id, note))
    try:
        ctx.work.adjudicate(second_review_id, verdict, lead=ctx.name, now=ctx.now, reason=reason, note=note)
    except ConflictError:
        return _cases(ctx, "settled_before", (second_review_id, note))
    return RedirectResponse("/adjudication?said=settled", 303)
