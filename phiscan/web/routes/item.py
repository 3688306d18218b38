"""One item: its evidence, masked context and history, verdict, skip, undo, assignment, corrections."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import Annotated, Any

from fastapi import Form
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response

from phiscan.decision.reasons import AGAINST, sentences
from phiscan.errors import ConflictError, InputError
from phiscan.health.topics import CHAPTERS, label_of, topics
from phiscan.language import decimal, lazy_gettext, ngettext
from phiscan.language import gettext as _
from phiscan.model import EntityType, Reason, Span, StoredFinding, StoredTerm, Verdict
from phiscan.pipeline.rereading.reveal import Veto
from phiscan.report.openings import opening_words
from phiscan.report.words import CASES, CHARACTERISTICS, reader_words
from phiscan.review.accounts.users import Session
from phiscan.review.decisions.learning import ItemCorrections, Mark
from phiscan.review.decisions.verdicts import Act, UnopenedError
from phiscan.review.decisions.writing import PURPOSES
from phiscan.review.worklist.model import REASONS, FileRecord, GroupMember, HistoryEntry, WorkState
from phiscan.visible import visible
from phiscan.web.access import Permission, Routes
from phiscan.web.pages import Notice
from phiscan.web.plain_words import (
    SHORT,
    colour,
    file_name,
    locator_words,
    readers_by_mode,
    source_words,
    step,
)
from phiscan.web.request_context import Context, Ctx
from phiscan.web.routes.queue import (
    Judged,
    Line,
    Listed,
    Tick,
    action_notice,
    action_words,
    first_url,
    is_number,
    people_with,
    verdict_words,
)
from phiscan.web.routes.reveal import N_SECONDS, is_cached, is_quick, judged_positions, prose_view
from phiscan.web.work_query import ListQuery

MIN_GAP = 3  # code points: a shorter gap is a space or a comma


@dataclass(frozen=True, slots=True)
class Piece:
    """One element of a line: a finding's shape, a health concept, or a gap of masked text."""

    start: int
    kind: str  # a colour of plain_words, "term" or "gap"
    label: str
    shape: str = ""
    position: int | None = None  # of the finding among the file's findings


@dataclass(frozen=True, slots=True)
class MaskedLine:
    """The elements of one location, in text order."""

    where: str
    pieces: tuple[Piece, ...]


def masked_lines(
    findings: Sequence[StoredFinding],
    terms: Sequence[StoredTerm],
    *,
    most: int | None = None,
    most_findings: int | None = None,
) -> tuple[MaskedLine, ...]:
    """Return the lines of a file in text order: the first ``most`` of them, of its first ``most_findings``.

    Only the first occurrence of a health concept is stored, so it is shown once.
    """
    # Findings are stored in text order.
    marks = [
        (
            found.span,
            found.locator,
            Piece(
                found.span.start, colour(found.entity_type), SHORT[found.entity_type], found.preview, index
            ),
        )
        for index, found in enumerate(findings[:most_findings])
    ]
    marks += [
        (term.first, term.locator, Piece(term.first.start, "term", label_of(term.concept))) for term in terms
    ]
    places: dict[str, list[tuple[int, int, Piece]]] = {}
    for span, locator, piece in sorted(marks, key=lambda mark: (mark[0].start, mark[0].end)):
        places.setdefault(locator, []).append((span.start, span.end, piece))
    return tuple(
        MaskedLine(locator_words(place), tuple(_spaced(found)))
        for place, found in islice(places.items(), most)
    )


def _spaced(found: Sequence[tuple[int, int, Piece]]) -> Iterator[Piece]:
    reached: int | None = None
    for start, end, piece in found:
        if reached is not None and start - reached >= MIN_GAP:
            yield Piece(reached, "gap", f"{start - reached:,}".replace(",", "\N{NARROW NO-BREAK SPACE}"))
        reached = max(end, reached or 0)
        yield piece


N_TERMS = 14  # health terms named; a long document has a hundred
MAX_MASKED_FINDINGS = 500  # findings shown at first; a page with 5,000 of them takes a second
MAX_MASKED_LINES = 40  # places shown at first; a list of patients has thousands
N_READERS = 4
MAX_SHOWN = 0.99  # above, a probability is shown as "over 99%"
MAX_NS = 2**62  # larger values are no valid file time

DONE: Mapping[str, str] = {
    "decide": lazy_gettext("decided"),
    "undo": lazy_gettext("undid a decision"),
    "assign": lazy_gettext("assigned it"),
    "second_verdict": lazy_gettext("decided blind"),
    "adjudicate": lazy_gettext("adjudicated it"),
    "reveal": lazy_gettext("revealed the text"),
    "correct": lazy_gettext("corrected a span"),
    "topic": lazy_gettext("corrected the topics"),
    "comment": lazy_gettext("commented"),
    "tag": lazy_gettext("added a tag"),
    "untag": lazy_gettext("removed a tag"),
}


def item_view(
    item: FileRecord,
    *,
    query: ListQuery,
    corrections: ItemCorrections,
    history: Sequence[HistoryEntry] = (),
    group: Sequence[GroupMember] = (),
    token: str = "",
    position: int | None = None,
    all_places: bool = False,
) -> dict[str, Any]:
    """Return what the page of an item shows; nothing is read from the database.

    Args:
        item: the item, as far as the viewer may see it.
        query: the list that it was opened from.
        corrections: corrections of its spans and topics.
        history: its history.
        group: its near-duplicates, including itself.
        token: random text for the form, so that it is recorded once.
        position: the selected finding.
        all_places: show every location of the file, not only the first ones.
    """
    mtime_ns = item.source.mtime_ns
    by_position = {one.position: one for one in corrections.spans if one.position is not None}
    terms = sorted(item.terms, key=lambda term: (-term.count, term.concept))
    found = item.findings
    close = position is not None and 0 <= position < len(found)
    verdict = "" if item.state is WorkState.UNDECIDED else item.state.value
    entries = tuple(_done(history))
    given = [one for one in entries if one["entry"].verdict and not one["entry"].is_undone]
    chapters = tuple(name for _first, _last, name in CHAPTERS)
    found_topics = topics(concept for term in item.terms for concept in [term.concept] * term.count)
    corrected = corrections.topics
    return {
        "item": item,
        "query": query,
        "changed": datetime.fromtimestamp(mtime_ns / 1e9, UTC) if 0 < abs(mtime_ns) < MAX_NS else None,
        "readers": _readers(item),
        "reader_count": reader_words(item.reader_count) if item.reader_count else "",
        "opened": "" if item.blind else opening_words(item.openings),
        "decided": verdict,
        # The verdict that stands, if it was given for an identical file.
        "carried": next((one for one in reversed(history) if verdict and one.is_current and one.path), None),
        # The last verdict that does not stand for this item: on an earlier content, or an identical file.
        "earlier": None
        if verdict or item.blind
        else next((one for one in given if one["entry"].path or not one["entry"].same_content), None),
        "case": _sentence(str(CASES.get(item.case, item.case))),
        "why": why_words(item),
        "bits": tuple(label for bit, (label, _hipaa) in CHARACTERISTICS.items() if bit in item.vector.bits),
        "missing": tuple(CHARACTERISTICS[bit][0].lower() for bit in item.missing),
        "terms": tuple((label_of(term.concept), term.count) for term in terms[:N_TERMS]),
        "outweighed": _outweighed(found),
        "masked": masked_lines(
            item.findings,
            item.terms,
            most=None if all_places else MAX_MASKED_LINES,
            most_findings=None if all_places else MAX_MASKED_FINDINGS,
        ),
        "n_masked": len({one.locator for one in found} | {one.locator for one in terms}),
        "is_cut": len(found) > MAX_MASKED_FINDINGS and not all_places,
        "finding": (position, found[position], by_position.get(position))
        if close and position is not None
        else None,
        "corrections": corrections,
        "judged": judged_positions(corrections),
        "missed": tuple(one for one in corrections.spans if one.position is None),
        "unread": [part for part in item.unread if not part.is_sampled],
        "left_out": [part for part in item.unread if part.is_sampled],
        "topics": found_topics,
        "chapters": chapters,
        # The valid topics: those of a reviewer, of whom some are no chapters, else the machine's.
        "chosen_topics": {name for name, _n in found_topics} if corrected is None else set(corrected),
        "other_topics": [name for name in corrected or () if name not in chapters],
        "history": entries,
        "comments": [one for one in history if one.what == "comment"],
        "others": [one for one in group if one.file_id != item.file_id],
        "token": token,
    }


def why_words(record: FileRecord) -> str:
    """Return one sentence with the probability of PHI and the strongest reasons of the referral."""
    given = sentences(record.reasons)
    if not given:
        return _sentence(str(CASES.get(record.case, record.case))) + "."
    probability = record.probability
    n_for = next((n for n, reason in enumerate(given) if reason.startswith(AGAINST)), len(given))
    in_favour, against = list(map(str, given[:n_for])), given[n_for:]
    begin = (
        _("Referred")
        if probability is None
        else _("PHI with {probability} probability", probability=probability_words(probability))
    )
    if in_favour:
        *first, last = in_favour
        begin += _(": {reasons}", reasons=_(" and ").join([", ".join(first), last] if first else [last]))
    return ", ".join([begin, *map(str, against)]) + "."


def probability_words(probability: float) -> str:
    """Return a probability in percent; never 0% or 100%.

    >>> probability_words(0.931), probability_words(0.9999), probability_words(0.0001)
    ('93%', 'over 99%', 'under 1%')
    """
    if probability > MAX_SHOWN:
        return _("over {share}", share=decimal(f"{MAX_SHOWN:.0%}"))
    return (
        _("under {share}", share=decimal("1%"))
        if probability < 1 - MAX_SHOWN
        else decimal(f"{probability:.0%}")
    )


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _readers(item: FileRecord) -> str:
    """Return who may read a file: from the share's access list, else from its permission bits."""
    if not item.source.readers:
        return readers_by_mode(item.source.mode) or _("not known")
    if "everyone" in item.source.readers:
        return _("everyone with access to the share")
    named = [visible(reader) for reader in item.source.readers]
    more = len(named) - N_READERS
    return ", ".join(named[:N_READERS]) + (
        ngettext(" and {n} more", " and {n} more", more) if more > 0 else ""
    )


def _outweighed(found: Sequence[StoredFinding]) -> tuple[tuple[str, int], ...]:
    """Count the rejected candidates: by overlap with a better one, and by negative cues."""
    counted = Counter(
        against for finding in found for reason in finding.reasons if (against := _against(reason))
    )
    return tuple(counted.most_common(6))


def _against(reason: Reason) -> str:
    if reason.kind == "overlap":
        return source_words(reason.detail)
    if reason.kind == "context" and reason.detail.startswith("not "):
        return _("words that say {detail}", detail=visible(reason.detail).replace("_", " "))
    return ""


def _done(history: Sequence[HistoryEntry]) -> Iterator[dict[str, Any]]:
    """Yield the lines of the history, the newest first; the verdict selects the colour."""
    labels = {name: label for chosen in REASONS.values() for name, label in chosen}
    for entry in reversed(history):
        verdict = entry.verdict
        what = str(DONE.get(entry.what, entry.what))
        if verdict is not None:
            what += f": {verdict_words(verdict)}"
        current = verdict.value if verdict and entry.is_current else ""
        reason = labels.get(entry.reason, visible(entry.reason))
        yield {"entry": entry, "what": what, "verdict": current, "reason": reason}


def vetoes_of(ctx: Context, file_id: int) -> dict[str, Any]:
    """Read a file again and return its first rejected candidates, or the problem if that is not possible."""
    try:
        found = ctx.desk.rereader.vetoes(ctx.work.examined(file_id))
    except InputError as error:  # it changed, is missing, or cannot be read now
        return {"problem": str(error)}
    return {"problem": "", "lines": [(one, _why(one)) for one in found.first], "n": found.n}


def _why(one: Veto) -> str:
    last = one.reasons[-1]
    against = last.kind == "veto" or (last.kind == "context" and last.detail.startswith("not "))
    return step(last) if against else _("not enough evidence")


routes = Routes()
Seen = Annotated[int, Form()]  # the examination whose findings were shown
Digits = Annotated[str, Form(max_length=12)]


@routes.page("GET", "/items/{file_id}", needs=Permission.SEE_QUEUE)
def item(file_id: int, ctx: Ctx) -> Response:
    """Show one item with its evidence; a blind item without it.

    ``vetoed`` reads the file again for the matches that the rules rejected; ``prose`` requests (1) or omits
    (0) the masked passages, which by default are included if the file can be read quickly. A file of the
    second list has a page that only shows.
    """
    if not ctx.work.is_listed(file_id):
        return second_list_page(file_id, ctx)
    return item_page(file_id, ctx, ctx.query)


def item_page(
    file_id: int, ctx: Context, query: ListQuery, *, unsent: str = "", reason: str = "", note: str = ""
) -> Response:
    """Return the page of one item.

    After a rejected form with the submitted input, which must not be lost; ``unsent``: the notice of why.
    """
    parameters, work, viewer = ctx.request.query_params, ctx.work, ctx.name
    detail = work.detail(file_id, viewer=viewer, now=ctx.now)
    finding, all_places = parameters.get("finding", ""), parameters.get("places") == "all"
    notice_name = unsent or ctx.notice_name
    may_reveal = ctx.may(Permission.DECIDE)
    session: Session | None = ctx.request.state.session
    is_shown = may_reveal and shows_prose(ctx, detail, parameters.get("prose", ""))
    reads_vetoes = parameters.get("vetoed") and not detail.blind and may_reveal
    return ctx.page(
        "item.html",
        unsent=unsent,
        **item_view(
            detail,
            query=query,
            corrections=work.corrections(file_id, viewer=viewer),
            history=work.history(file_id, viewer=viewer),
            group=work.group(detail.group_id, viewer=viewer) if detail.group_id is not None else (),
            token=secrets.token_urlsafe(16),
            position=int(finding) if is_number(finding) else None,
            all_places=all_places,
        ),
        file_id=file_id,
        colleagues=[name for name in people_with(ctx, Permission.SEE_QUEUE) if name != viewer],
        notice=recorded_notice(ctx) or action_notice(ctx, notice_name),
        last_act=action_words(act) if may_reveal and (act := work.last_act(by=viewer)) else "",
        override=notice_name == "conflict",
        reason=reason,
        note=note,
        people=people_with(ctx) if ctx.may(Permission.ASSIGN) else (),
        prose=prose_view(ctx, detail) if is_shown else None,
        place=work.place(file_id, query.filter, viewer=viewer, now=ctx.now, order=query.order),
        purpose=session.purpose if session else "",
        all_places=all_places,
        correcting=notice_name in {"corrected", "complete", "incomplete", "changed"},
        vetoed=vetoes_of(ctx, file_id) if reads_vetoes else None,
        may_reveal=may_reveal,
        purposes=PURPOSES,
        seconds=N_SECONDS,
        definition=ctx.desk.organization.definition,
    )


@routes.page("POST", "/items/{file_id}/decide", needs=Permission.DECIDE)
def decide(
    file_id: int,
    ctx: Ctx,
    listed: Listed,
    given: Judged,
    seen: Seen,
    by_name: Tick = "",
    override: Tick = "",
) -> Response:
    """Record a verdict and redirect to the next item of the list, as it was ordered before."""
    kept = {"reason": given.reason, "note": given.note}
    if not given.is_consistent:
        return item_page(file_id, ctx, listed, unsent="reason", note=given.note)
    ctx.item(file_id)  # raises unless the item is in the list
    onward = following(ctx, listed, file_id)  # a blind item loses its drawn place
    how: Any = {"seen": seen, "override": bool(override), "by_name": bool(by_name), **ctx.reviewing}
    try:
        ctx.work.decide(file_id, given.verdict, **given.why, **how)
    except ConflictError:
        return item_page(file_id, ctx, listed, unsent="conflict", **kept)
    except UnopenedError:
        return item_page(file_id, ctx, listed, unsent="unopened", **kept)
    return redirect_or_json(ctx, url_of(ctx, listed, onward, done=str(file_id)))


@routes.page("POST", "/items/{file_id}/skip", needs=Permission.DECIDE)
def skip(file_id: int, ctx: Ctx, listed: Listed) -> Response:
    """Skip an item for now and redirect to the next."""
    ctx.item(file_id)
    ctx.work.skip(file_id, **ctx.reviewing)
    return redirect_or_json(ctx, url_of(ctx, listed, following(ctx, listed, file_id), said="skipped"))


@routes.page("GET", "/items/{file_id}/next", needs=Permission.SEE_QUEUE)
def next_item(file_id: int, ctx: Ctx) -> Response:
    """Redirect to the next item of the list; after the last, to the first; to the list if it is empty."""
    return RedirectResponse(url_of(ctx, ctx.query, following(ctx, ctx.query, file_id)), 303)


@routes.page("GET", "/items/{file_id}/previous", needs=Permission.SEE_QUEUE)
def previous_item(file_id: int, ctx: Ctx) -> Response:
    """Redirect to the previous item of the list; from the first, to the list."""
    before = following(ctx, ctx.query, file_id, backward=True)
    return RedirectResponse(ctx.query.url("/queue" if before is None else f"/items/{before}"), 303)


@routes.page("POST", "/items/{file_id}/undo", needs=Permission.DECIDE)
def undo(file_id: int, ctx: Ctx, listed: Listed) -> Response:
    """Undo the user's own verdict on an item, and show the item again."""
    notice = "undone"
    try:
        ctx.work.undo(file_id, **ctx.by)
    except ConflictError:
        notice = "nothing_to_undo"
    return redirect_or_json(ctx, listed.url(f"/items/{file_id}", said=notice))


@routes.page("POST", "/undo", needs=Permission.DECIDE)
def undo_last(ctx: Ctx, listed: Listed) -> Response:
    """Undo the user's most recent verdict, and show its item or group; of other files the list."""
    return _act_again(ctx, listed, ctx.work.undo_last, "undone", "nothing_to_undo")


@routes.page("POST", "/redo", needs=Permission.DECIDE)
def redo_last(ctx: Ctx, listed: Listed) -> Response:
    """Record the verdicts again that the user has just undone, and show their item or group."""
    return _act_again(ctx, listed, ctx.work.redo_last, "redone", "nothing_to_redo")


def _act_again(ctx: Context, listed: ListQuery, act: Callable[..., Act], notice: str, none: str) -> Response:
    """Undo or redo an action, and redirect to its item or group; ``none``: the notice if there is none."""
    try:
        done = act(**ctx.by)
    except ConflictError:
        return redirect_or_json(ctx, listed.url("/queue", said=none))
    url = listed.url(f"/items/{done.file_ids[0]}", said=notice)
    if len(done.file_ids) > 1:
        group = ctx.item(done.file_ids[0]).group_id
        members = ctx.work.group(group, viewer=ctx.name) if group is not None else ()
        is_one = {one.file_id for one in members}.issuperset(done.file_ids)
        url = f"/groups/{group}?said={notice}" if is_one else listed.url("/queue", said=notice)
    return redirect_or_json(ctx, url)


@routes.page("POST", "/items/{file_id}/assign", needs=Permission.ASSIGN)
def assign(file_id: int, ctx: Ctx, listed: Listed, assignee: Line = "") -> Response:
    """Assign an item to a reviewer; an empty name removes the assignment."""
    ctx.desk.store.assign_all([file_id], assignee, **ctx.by)
    return RedirectResponse(listed.url(f"/items/{file_id}", said="assigned"), 303)


def shows_prose(ctx: Context, detail: FileRecord, requested: str) -> bool:
    """Return whether the page includes the passages: never of a blind item, by default only of a quick file.

    Otherwise the page's script fetches them, or without a script a link does.
    """
    if detail.blind or requested == "0":
        return False
    return requested == "1" or is_cached(ctx, detail) or (is_quick(detail) and ctx.desk.rereader.is_ready)


def redirect_or_json(ctx: Context, url: str) -> Response:
    """Redirect a browser; the page's script gets the address as JSON, because it may have prefetched it."""
    if ctx.request.headers.get("accept") == "application/json":
        return JSONResponse({"url": url})
    return RedirectResponse(url, 303)


def following(ctx: Context, query: ListQuery, file_id: int, *, backward: bool = False) -> int | None:
    """Return the item after a file in a list, or before it; None = it is the last."""
    given: Any = {"order": query.order, "backward": backward, **ctx.viewing}
    return ctx.work.adjacent(file_id, query.filter, **given)


def url_of(ctx: Context, query: ListQuery, file_id: int | None, **parameters: str) -> str:
    """Return the address of an item of a list; of the first item without one."""
    if file_id is None:
        return first_url(ctx, query, **parameters)
    return query.url(f"/items/{file_id}", **parameters)


def recorded_notice(ctx: Context) -> Notice | None:
    """Return the notice of the verdict that was recorded on the previous page, with an undo button."""
    done = ctx.request.query_params.get("done", "")
    if not is_number(done):
        return None
    try:
        decided = ctx.item(int(done))
    except InputError:
        return None
    name = file_name(decided.path)
    if decided.state is WorkState.UNDECIDED:  # a blind verdict stays hidden until both are recorded
        return Notice("good", _("Recorded for {name}.", name=name), file_id=decided.file_id)
    verdict = Verdict(decided.state.value)
    offer = verdict is Verdict.NOT_PHI and not decided.blind and ctx.may(Permission.PROPOSE_SUPPRESSION)
    return Notice(
        "good",
        _("{name} is recorded as {verdict}.", name=name, verdict=verdict_words(verdict)),
        file_id=decided.file_id,
        suppress_url=f"/items/{decided.file_id}/suppress" if offer else "",
    )


N_ROWS = 200  # files on the page; `phiscan queue list --second-look` lists all


@routes.page("GET", "/second-list", needs=Permission.SEE_QUEUE)
def second_list(ctx: Ctx) -> Response:
    """Show the first files of the second list, those with the highest probability first."""
    items = ctx.desk.store.queue(second_look=True, conceal=True, by_probability=True, limit=N_ROWS)
    return ctx.page("second_list.html", rows=items, most=N_ROWS)


def second_list_page(file_id: int, ctx: Context) -> Response:
    """Return the read-only page of a file of the second list.

    Raises:
        HTTPException: 404; the file is in neither list, or there is no such file.
    """
    try:
        record = ctx.desk.store.item(file_id, conceal=True)
    except InputError as error:
        raise HTTPException(404, str(error)) from None
    if record.blind or not record.second_look:
        raise HTTPException(404, _("file {file_id}: not in the review list (any more)", file_id=file_id))
    nothing = ItemCorrections((), complete=False, completed_by="", topics=None)
    return ctx.page("second_list_item.html", **item_view(record, query=ListQuery(), corrections=nothing))


@routes.page("POST", "/items/{file_id}/spans", needs=Permission.CORRECT)
def correct_span(
    file_id: int,
    ctx: Ctx,
    listed: Listed,
    mark: Annotated[Mark, Form()],
    seen: Seen,
    position: Digits = "",
    start: Digits = "",
    end: Digits = "",
    entity_type: Annotated[EntityType | None, Form()] = None,
    both: Tick = "",
) -> Response:
    """Record a reviewer's correction of one span; reads only the form fields that the mark requires.

    With ``both``, a corrected extent also gets the submitted type.
    """
    found = None if not position else _number("position", position)
    missed = mark is Mark.MISSED or (mark is Mark.WITHDRAWN and found is None)
    has_type = missed or mark is Mark.WRONG_TYPE or (both and mark is Mark.WRONG_EXTENT)
    correct = partial(
        ctx.work.correct,
        file_id,
        mark,
        position=found,
        span=_span(start, end) if missed or mark is Mark.WRONG_EXTENT else None,
        entity_type=entity_type if has_type else None,
    )
    return _written(file_id, ctx, seen, listed, correct, "corrected")


@routes.page("POST", "/items/{file_id}/spans/complete", needs=Permission.CORRECT)
def complete_spans(file_id: int, ctx: Ctx, listed: Listed, seen: Seen, complete: Tick = "") -> Response:
    """Record that all spans of a file were checked, or withdraw that."""
    mark = partial(ctx.work.complete_spans, file_id, complete=bool(complete))
    return _written(file_id, ctx, seen, listed, mark, "complete" if complete else "incomplete")


@routes.page("POST", "/items/{file_id}/topics", needs=Permission.CORRECT)
def correct_topics(
    file_id: int, ctx: Ctx, listed: Listed, seen: Seen, label: Annotated[list[str] | None, Form()] = None
) -> Response:
    """Record the topics that a reviewer chose for a file."""
    correct = partial(ctx.work.correct_topics, file_id, label or ())
    return _written(file_id, ctx, seen, listed, correct, "topics")


def _written(
    file_id: int, ctx: Context, seen: int, listed: ListQuery, write: Callable[..., Any], notice: str
) -> Response:
    """Write a correction and return to the item; of a file that was examined again nothing is written."""
    try:
        write(seen=seen, **ctx.reviewing)
    except ConflictError:
        notice = "changed"
    return RedirectResponse(listed.url(f"/items/{file_id}", said=notice), 303)


def _span(start: str, end: str) -> Span:
    first, last = _number(_("from character"), start), _number(_("to before"), end)
    if first >= last:
        raise InputError(
            _("characters {first} to {last}: expected the first before the last", first=first, last=last)
        )
    return Span(first, last)


def _number(field: str, text: str) -> int:
    text = text.strip()
    if not (text.isascii() and text.isdecimal()):
        raise InputError(_("{field}: expected a number of characters", field=field))
    return int(text)
