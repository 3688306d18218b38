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

from fastapi import Form, Request
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response

from phiscan.decision.reasons import AGAINST, sentences
from phiscan.errors import ConflictError, InputError
from phiscan.health.topics import CHAPTERS, label_of, topics
from phiscan.language import decimal, lazy_gettext, ngettext
from phiscan.language import gettext as _
from phiscan.model import EntityType, Reason, Span, StoredFinding, StoredTerm, Verdict
from phiscan.pipeline.rereading.vetoes import Veto
from phiscan.report.words import CASES, CHARACTERISTICS, DETECTORS, ENTITY_TYPES, FORMATS, part_detail
from phiscan.report.words import REASONS as OUTCOME_REASONS
from phiscan.review.accounts.users import Session, User
from phiscan.review.decisions.learning import ItemCorrections, Mark
from phiscan.review.decisions.verdicts import Act, UnopenedError
from phiscan.review.decisions.writing import PURPOSES
from phiscan.review.worklist.model import (
    REASONS,
    FileRecord,
    GroupMember,
    HistoryEntry,
    WorkState,
)
from phiscan.visible import visible
from phiscan.web.access import Permission, Routes, may
from phiscan.web.notices import Notice, notice
from phiscan.web.plain_words import (
    SHORT,
    colour,
    locator_words,
    mode_letters,
    readers_by_mode,
    step,
)
from phiscan.web.request_context import Desk, DeskNow
from phiscan.web.routes.queue import Listed, first_url, place_words, reviewers, verdict_words
from phiscan.web.routes.reveal import N_SECONDS, is_cached, is_quick, judged_positions, prose_view
from phiscan.web.session import SignedIn
from phiscan.web.work_query import ListQuery, read_query, read_string

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


def count_places(findings: Sequence[StoredFinding], terms: Sequence[StoredTerm]) -> int:
    """Count the locations of a file with a finding or a health concept."""
    return len({found.locator for found in findings} | {term.locator for term in terms})


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
    findings = findings[:most_findings]  # stored in text order
    placed = sorted(
        [(one.span.start, one.locator) for one in findings]
        + [(term.first.start, term.locator) for term in terms]
    )
    shown = frozenset(islice(dict.fromkeys(locator for _, locator in placed), most))
    marks: list[tuple[int, int, str, Piece]] = [
        (
            found.span.start,
            found.span.end,
            found.locator,
            Piece(
                found.span.start, colour(found.entity_type), SHORT[found.entity_type], found.preview, index
            ),
        )
        for index, found in enumerate(findings)
        if found.locator in shown
    ]
    marks += [
        (
            term.first.start,
            term.first.end,
            term.locator,
            Piece(term.first.start, "term", label_of(term.concept)),
        )
        for term in terms
        if term.locator in shown
    ]
    marks.sort(key=lambda mark: (mark[0], mark[1]))
    places: dict[str, list[tuple[int, int, Piece]]] = {}
    for start, end, locator, piece in marks:
        places.setdefault(locator, []).append((start, end, piece))
    return tuple(MaskedLine(locator_words(place), tuple(_spaced(found))) for place, found in places.items())


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
}


@dataclass(frozen=True, slots=True)
class DoneView:
    """One line of the history."""

    entry: HistoryEntry
    what: str
    verdict: str  # selects the colour
    reason: str


def item_view(
    item: FileRecord,
    *,
    query: ListQuery,
    corrections: ItemCorrections,
    history: Sequence[HistoryEntry],
    group: Sequence[GroupMember],
    token: str,
    position: int | None,
    all_places: bool,
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
    folder, _slash, name = item.path.rpartition("/")
    by_position = {one.position: one for one in corrections.spans if one.position is not None}
    terms = sorted(item.terms, key=lambda term: (-term.count, term.concept))
    found = item.findings
    close = position is not None and 0 <= position < len(found)
    verdict = "" if item.state is WorkState.UNDECIDED else item.state.value
    entries = tuple(_done(history))
    given = [one for one in entries if one.entry.verdict and not one.entry.is_undone]
    chapters = tuple(name for _first, _last, name in CHAPTERS)
    found_topics = topics(concept for term in item.terms for concept in [term.concept] * term.count)
    corrected = corrections.topics
    return {
        "item": item,
        "query": query,
        "name": visible(name),
        "folder": place_words(item.root, folder),
        "type": FORMATS.get(item.media_type, visible(item.media_type)) or _("type unknown"),
        "changed": moment_of(item.source.mtime_ns),
        "owner": visible(item.owner) or _("no. {number}", number=item.source.uid),
        "readers": _readers(item),
        "mode": mode_letters(item.source.mode),
        "decided": verdict,
        # The verdict that stands, if it was given for an identical file.
        "carried": next((one.entry for one in entries if one.entry.is_current and one.entry.path), None)
        if verdict
        else None,
        # The last verdict that does not stand for this item: on an earlier content, or an identical file.
        "earlier": None
        if verdict or item.blind
        else next((one for one in given if one.entry.path or not one.entry.same_content), None),
        "case": _sentence(str(CASES.get(item.case, item.case))),
        "why": why_words(item),
        "bits": tuple(label for bit, (label, _hipaa) in CHARACTERISTICS.items() if bit in item.vector.bits),
        "missing": tuple(CHARACTERISTICS[bit][0].lower() for bit in item.missing),
        "terms": tuple((label_of(term.concept), term.count) for term in terms[:N_TERMS]),
        "n_terms": len(terms),
        "detectors": tuple((name, is_phi, DETECTORS.get(name, "")) for name, is_phi in item.detectors),
        "outweighed": _outweighed(found),
        "masked": masked_lines(
            item.findings,
            item.terms,
            most=None if all_places else MAX_MASKED_LINES,
            most_findings=None if all_places else MAX_MASKED_FINDINGS,
        ),
        "n_masked": count_places(item.findings, item.terms),
        "is_cut": len(found) > MAX_MASKED_FINDINGS and not all_places,
        "finding": (position, found[position], by_position.get(position))
        if close and position is not None
        else None,
        "corrections": corrections,
        "judged": judged_positions(corrections),
        "missed": tuple(one for one in corrections.spans if one.position is None),
        "unread": tuple(
            (locator_words(part.locator), part.reason.value, OUTCOME_REASONS.get(part.reason, ""))
            for part in item.unread
            if not part.is_sampled
        ),
        "left_out": tuple(
            (locator_words(part.locator), part_detail(visible(part.detail)))
            for part in item.unread
            if part.is_sampled
        ),
        "topics": found_topics,
        "chapters": chapters,
        # The valid topics: those of a reviewer, of whom some are no chapters, else the machine's.
        "chosen_topics": {name for name, _n in found_topics} if corrected is None else set(corrected),
        "other_topics": [name for name in corrected or () if name not in chapters],
        "history": entries,
        "others": [one for one in group if one.file_id != item.file_id],
        "reasons": [(verdict_words(verdict), chosen) for verdict, chosen in REASONS.items()],
        "kinds": [(kind.value, ENTITY_TYPES[kind]) for kind in EntityType],
        "token": token,
    }


def moment_of(mtime_ns: int) -> datetime | None:
    """Return a file's modification time, None if it is out of range."""
    return datetime.fromtimestamp(mtime_ns / 1e9, UTC) if abs(mtime_ns) < MAX_NS else None


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
        return visible(reason.detail)
    if reason.kind == "context" and reason.detail.startswith("not "):
        return _("words that say {detail}", detail=visible(reason.detail))
    return ""


def _done(history: Sequence[HistoryEntry]) -> Iterator[DoneView]:
    labels = {name: label for chosen in REASONS.values() for name, label in chosen}
    for entry in reversed(history):
        verdict = entry.verdict
        what = str(DONE.get(entry.what, entry.what))
        if verdict is not None:
            what += f": {verdict_words(verdict)}"
        yield DoneView(
            entry=entry,
            what=what,
            verdict=verdict.value if verdict and entry.is_current else "",
            reason=labels.get(entry.reason, visible(entry.reason)),
        )


def vetoes_of(desk: Desk, file_id: int) -> dict[str, Any]:
    """Read a file again and return its first rejected candidates, or the problem if that is not possible."""
    try:
        found = desk.rereader.vetoes(desk.store.desk.examined(file_id))
    except InputError as error:  # it changed, is missing, or cannot be read now
        return {"problem": str(error)}
    return {"problem": "", "lines": [(one, _why(one)) for one in found.first], "n": found.n}


def _why(one: Veto) -> str:
    last = one.reasons[-1]
    against = last.kind == "veto" or (last.kind == "context" and last.detail.startswith("not "))
    return step(last) if against else _("not enough evidence")


routes = Routes()


@routes.page("GET", "/items/{file_id}", needs=Permission.SEE_QUEUE)
def item(file_id: int, request: Request, user: SignedIn, desk: DeskNow) -> Response:
    """Show one item with its evidence; a blind item without it.

    ``vetoed`` reads the file again for the matches that the rules rejected; ``prose`` requests (1) or omits
    (0) the masked passages, which by default are included if the file can be read quickly. A file of the
    second list has a page that only shows.
    """
    if not desk.store.desk.is_listed(file_id):
        return second_list_page(file_id, request, desk)
    return item_page(file_id, request, user, desk, read_query(request.query_params))


@dataclass(frozen=True, slots=True)
class Unsent:
    """A verdict that was not recorded: the reason, and the reviewer's input, which must not be lost."""

    notice: str  # a key of ``notices.NOTICES``
    reason: str
    note: str


def item_page(
    file_id: int,
    request: Request,
    user: SignedIn,
    desk: Desk,
    query: ListQuery,
    unsent: Unsent | None = None,
) -> Response:
    """Return the page of one item; after a rejected form, with the submitted input filled in."""
    parameters = request.query_params
    now, work = desk.now(), desk.store.desk
    detail = work.detail(file_id, viewer=user.name, now=now)
    group = detail.group_id
    finding = parameters.get("finding", "")
    view = item_view(
        detail,
        query=query,
        corrections=work.corrections(file_id, viewer=user.name),
        history=work.history(file_id, viewer=user.name),
        group=work.group(group, viewer=user.name) if group is not None else (),
        token=secrets.token_urlsafe(16),
        position=int(finding) if is_number(finding) else None,
        all_places=parameters.get("places") == "all",
    )
    notice_name = unsent.notice if unsent else parameters.get("said", "")
    may_reveal = may(user, Permission.DECIDE)
    session: Session | None = request.state.session
    return desk.pages.render(
        request,
        "item.html",
        status_code=409 if unsent else 200,
        **view,
        file_id=file_id,
        notice=recorded_notice(request, desk, user) or action_notice(desk, user, notice_name),
        last_act=action_words(act) if may_reveal and (act := work.last_act(by=user.name)) else "",
        override=notice_name == "conflict",
        reason=unsent.reason if unsent else "",
        note=unsent.note if unsent else "",
        people=reviewers(desk) if may(user, Permission.ASSIGN) else (),
        prose=prose_view(desk, detail)
        if may_reveal and shows_prose(desk, detail, parameters.get("prose", ""))
        else None,
        place=work.place(file_id, query.filter, viewer=user.name, now=now, order=query.order),
        purpose=session.purpose if session else "",
        all_places=parameters.get("places") == "all",
        correcting=notice_name in {"corrected", "complete", "incomplete", "changed"},
        vetoed=vetoes_of(desk, file_id)
        if parameters.get("vetoed") and not detail.blind and may_reveal
        else None,
        may_reveal=may_reveal,
        purposes=PURPOSES,
        seconds=N_SECONDS,
    )


@routes.page("POST", "/items/{file_id}/decide", needs=Permission.DECIDE)
def decide(
    file_id: int,
    request: Request,
    user: SignedIn,
    desk: DeskNow,
    verdict: Annotated[Verdict, Form()],
    token: Annotated[str, Form(max_length=100)],
    seen: Annotated[int, Form()],
    reason: Annotated[str, Form(max_length=200)] = "",
    note: Annotated[str, Form(max_length=10_000)] = "",
    by_name: Annotated[str, Form(max_length=1)] = "",
    override: Annotated[str, Form(max_length=1)] = "",
    listed: Listed = "",
) -> Response:
    """Record a verdict and redirect to the next item of the list, as it was ordered before."""
    query = read_string(listed)
    if not is_reason_of(reason, verdict):
        return item_page(file_id, request, user, desk, query, Unsent("reason", "", note))
    desk.store.desk.item(file_id, viewer=user.name, now=desk.now())  # raises unless the item is in the list
    onward = following(desk, query, file_id, viewer=user.name)  # a blind item loses its drawn place
    try:
        desk.store.desk.decide(
            file_id,
            verdict,
            reviewer=user.name,
            now=desk.now(),
            token=token,
            seen=seen,
            override=bool(override),
            reason=reason,
            note=note,
            by_name=bool(by_name),
        )
    except UnopenedError:
        return item_page(file_id, request, user, desk, query, Unsent("unopened", reason, note))
    except ConflictError:
        return item_page(file_id, request, user, desk, query, Unsent("conflict", reason, note))
    return redirect_or_json(request, url_of(desk, query, onward, viewer=user.name, done=str(file_id)))


@routes.page("POST", "/items/{file_id}/skip", needs=Permission.DECIDE)
def skip(file_id: int, request: Request, user: SignedIn, desk: DeskNow, listed: Listed = "") -> Response:
    """Skip an item for now and redirect to the next."""
    query = read_string(listed)
    desk.store.desk.item(file_id, viewer=user.name, now=desk.now())
    desk.store.desk.skip(file_id, reviewer=user.name, now=desk.now())
    return redirect_or_json(request, next_url(desk, query, file_id, viewer=user.name, said="skipped"))


@routes.page("GET", "/items/{file_id}/next", needs=Permission.SEE_QUEUE)
def next_item(file_id: int, request: Request, user: SignedIn, desk: DeskNow) -> Response:
    """Redirect to the next item of the list."""
    return RedirectResponse(next_url(desk, read_query(request.query_params), file_id, viewer=user.name), 303)


@routes.page("GET", "/items/{file_id}/previous", needs=Permission.SEE_QUEUE)
def previous_item(file_id: int, request: Request, user: SignedIn, desk: DeskNow) -> Response:
    """Redirect to the previous item of the list; from the first, to the list."""
    query = read_query(request.query_params)
    before = desk.store.desk.adjacent(
        file_id, query.filter, viewer=user.name, now=desk.now(), order=query.order, backward=True
    )
    return RedirectResponse(query.url("/queue" if before is None else f"/items/{before}"), 303)


@routes.page("POST", "/items/{file_id}/undo", needs=Permission.DECIDE)
def undo(file_id: int, request: Request, user: SignedIn, desk: DeskNow, listed: Listed = "") -> Response:
    """Undo the user's own verdict on an item, and show the item again."""
    query = read_string(listed)
    try:
        desk.store.desk.undo(file_id, by=user.name, now=desk.now())
    except ConflictError:
        return redirect_or_json(request, query.url(f"/items/{file_id}", said="nothing_to_undo"))
    return redirect_or_json(request, query.url(f"/items/{file_id}", said="undone"))


@routes.page("POST", "/undo", needs=Permission.DECIDE)
def undo_last(request: Request, user: SignedIn, desk: DeskNow, listed: Listed = "") -> Response:
    """Undo the user's most recent verdict on any item or group, and show that item or group."""
    query = read_string(listed)
    try:
        act = desk.store.desk.undo_last(by=user.name, now=desk.now())
    except ConflictError:
        return redirect_or_json(request, query.url("/queue", said="nothing_to_undo"))
    return redirect_or_json(request, action_url(desk, act, query, user, notice_name="undone"))


@routes.page("POST", "/redo", needs=Permission.DECIDE)
def redo_last(request: Request, user: SignedIn, desk: DeskNow, listed: Listed = "") -> Response:
    """Record the verdicts again that the user has just undone, and show their item or group."""
    query = read_string(listed)
    try:
        act = desk.store.desk.redo_last(by=user.name, now=desk.now())
    except ConflictError:
        return redirect_or_json(request, query.url("/queue", said="nothing_to_redo"))
    return redirect_or_json(request, action_url(desk, act, query, user, notice_name="redone"))


@routes.page("POST", "/items/{file_id}/assign", needs=Permission.ASSIGN)
def assign(
    file_id: int,
    user: SignedIn,
    desk: DeskNow,
    assignee: Annotated[str, Form(max_length=200)] = "",
    listed: Listed = "",
) -> Response:
    """Assign an item to a reviewer; an empty name removes the assignment."""
    desk.store.assign_all([file_id], assignee, by=user.name, now=desk.now())
    return RedirectResponse(read_string(listed).url(f"/items/{file_id}", said="assigned"), 303)


def action_url(desk: Desk, act: Act, query: ListQuery, user: User, *, notice_name: str) -> str:
    """Return the address of the item or group of a review action."""
    if len(act.file_ids) > 1:
        item = desk.store.desk.item(act.file_ids[0], viewer=user.name, now=desk.now())
        if item.group_id is not None:
            return f"/groups/{item.group_id}?said={notice_name}"
    return query.url(f"/items/{act.file_ids[0]}", said=notice_name)


def action_words(act: Act) -> str:
    """Return a review action in words.

    >>> from datetime import UTC, datetime
    >>> action_words(Act((1,), "a/letter.txt", Verdict.NOT_PHI, datetime.now(UTC)))
    'not PHI for letter.txt'
    """
    n = len(act.file_ids)
    verdict = verdict_words(act.verdict)
    if n > 1:
        return ngettext("{verdict} for {n} file", "{verdict} for {n} files", n, verdict=verdict)
    return _("{verdict} for {name}", verdict=verdict, name=visible(act.path.rpartition("/")[2]))


def action_notice(desk: Desk, user: User, notice_name: str) -> Notice | None:
    """Return the notice of a name in the address; after undo or redo, with the action and its reversal."""
    if notice_name == "undone" and (act := desk.store.desk.last_undone(by=user.name)):
        return Notice("good", _("Undone: {act}.", act=action_words(act)), redoes=True)
    if notice_name == "redone" and (act := desk.store.desk.last_act(by=user.name)):
        return Notice("good", _("Recorded again: {act}.", act=action_words(act)), undoes=True)
    return notice(notice_name)


def shows_prose(desk: Desk, detail: FileRecord, requested: str) -> bool:
    """Return whether the page includes the passages: never of a blind item, by default only of a quick file.

    Otherwise the page's script fetches them, or without a script a link does.
    """
    if detail.blind or requested == "0":
        return False
    return requested == "1" or is_cached(desk, detail) or (is_quick(detail) and desk.rereader.is_ready)


def is_number(text: str) -> bool:
    """Return whether a string of an address is an integer that fits the database's column."""
    return text.isascii() and text.isdecimal() and len(text) < 19  # noqa: PLR2004 (digits of 2**63)


def redirect_or_json(request: Request, url: str) -> Response:
    """Redirect a browser; the page's script gets the address as JSON, because it may have prefetched it."""
    if request.headers.get("accept") == "application/json":
        return JSONResponse({"url": url})
    return RedirectResponse(url, 303)


def is_reason_of(reason: str, verdict: Verdict) -> bool:
    """Return whether a reason belongs to a verdict; an empty reason always does."""
    return not reason or reason in {name for name, _ in REASONS[verdict]}


def next_url(desk: Desk, query: ListQuery, file_id: int, *, viewer: str, **parameters: str) -> str:
    """Return the address of the next item; after the last, of the first; of the list if it is empty."""
    onward = following(desk, query, file_id, viewer=viewer)
    return url_of(desk, query, onward, viewer=viewer, **parameters)


def following(desk: Desk, query: ListQuery, file_id: int, *, viewer: str) -> int | None:
    """Return the item after a file in a list; None = it is the last."""
    return desk.store.desk.adjacent(file_id, query.filter, viewer=viewer, now=desk.now(), order=query.order)


def url_of(desk: Desk, query: ListQuery, file_id: int | None, *, viewer: str, **parameters: str) -> str:
    """Return the address of an item of a list; of the first item without one."""
    if file_id is None:
        return first_url(desk, query, viewer=viewer, **parameters)
    return query.url(f"/items/{file_id}", **parameters)


def recorded_notice(request: Request, desk: Desk, user: SignedIn) -> Notice | None:
    """Return the notice of the verdict that was recorded on the previous page, with an undo button."""
    done = request.query_params.get("done", "")
    if not is_number(done):
        return None
    try:
        decided = desk.store.desk.item(int(done), viewer=user.name, now=desk.now())
    except InputError:
        return None
    name = visible(decided.path.rpartition("/")[2])
    if decided.state is WorkState.UNDECIDED:  # a blind verdict stays hidden until both are recorded
        return Notice("good", _("Recorded for {name}.", name=name), file_id=decided.file_id)
    verdict = Verdict(decided.state.value)
    offer = verdict is Verdict.NOT_PHI and not decided.blind and may(user, Permission.PROPOSE_SUPPRESSION)
    return Notice(
        "good",
        _("{name} is recorded as {verdict}.", name=name, verdict=verdict_words(verdict)),
        file_id=decided.file_id,
        suppress_url=f"/items/{decided.file_id}/suppress" if offer else "",
    )


N_ROWS = 200  # files on the page; `phiscan queue list --second-look` lists all


@routes.page("GET", "/second-list", needs=Permission.SEE_QUEUE)
def second_list(request: Request, desk: DeskNow) -> Response:
    """Show the first files of the second list, those with the highest probability first."""
    items = desk.store.queue(second_look=True, conceal=True, by_probability=True, limit=N_ROWS)
    return desk.pages.render(
        request, "second_list.html", rows=items, most=N_ROWS, place=place_words, known=DETECTORS
    )


def second_list_page(file_id: int, request: Request, desk: Desk) -> Response:
    """Return the read-only page of a file of the second list.

    Raises:
        HTTPException: 404; the file is in neither list, or there is no such file.
    """
    try:
        record = desk.store.item(file_id, conceal=True)
    except InputError as error:
        raise HTTPException(404, str(error)) from None
    if record.blind or not record.second_look:
        raise HTTPException(404, _("file {file_id}: not in the review list (any more)", file_id=file_id))
    view = item_view(
        record,
        query=ListQuery(),
        corrections=ItemCorrections((), complete=False, completed_by="", topics=None),
        history=(),
        group=(),
        token="",
        position=None,
        all_places=False,
    )
    return desk.pages.render(request, "second_list_item.html", **view, known=DETECTORS)


Seen = Annotated[int, Form()]  # the examination whose findings were shown
MAX_DIGITS = 12


@routes.page("POST", "/items/{file_id}/spans", needs=Permission.CORRECT)
def correct_span(
    file_id: int,
    user: SignedIn,
    desk: DeskNow,
    mark: Annotated[Mark, Form()],
    seen: Seen,
    position: Annotated[str, Form(max_length=MAX_DIGITS)] = "",
    start: Annotated[str, Form(max_length=MAX_DIGITS)] = "",
    end: Annotated[str, Form(max_length=MAX_DIGITS)] = "",
    entity_type: Annotated[EntityType | None, Form()] = None,
    both: Annotated[str, Form(max_length=1)] = "",
    listed: Listed = "",
) -> Response:
    """Record a reviewer's correction of one span; reads only the form fields that the mark requires.

    With ``both``, a corrected extent also gets the submitted type.
    """
    found = None if not position else _number("position", position)
    missed = mark is Mark.MISSED or (mark is Mark.WITHDRAWN and found is None)
    has_type = missed or mark is Mark.WRONG_TYPE or (both and mark is Mark.WRONG_EXTENT)
    correct = partial(
        desk.store.desk.correct,
        file_id,
        mark,
        position=found,
        span=_span(start, end) if missed or mark is Mark.WRONG_EXTENT else None,
        entity_type=entity_type if has_type else None,
    )
    return _written(file_id, user, desk, seen, listed, correct, "corrected")


@routes.page("POST", "/items/{file_id}/spans/complete", needs=Permission.CORRECT)
def complete_spans(
    file_id: int,
    user: SignedIn,
    desk: DeskNow,
    seen: Seen,
    complete: Annotated[str, Form(max_length=1)] = "",
    listed: Listed = "",
) -> Response:
    """Record that all spans of a file were checked, or withdraw that."""
    mark = partial(desk.store.desk.complete_spans, file_id, complete=bool(complete))
    return _written(file_id, user, desk, seen, listed, mark, "complete" if complete else "incomplete")


@routes.page("POST", "/items/{file_id}/topics", needs=Permission.CORRECT)
def correct_topics(
    file_id: int,
    user: SignedIn,
    desk: DeskNow,
    seen: Seen,
    label: Annotated[list[str] | None, Form()] = None,
    listed: Listed = "",
) -> Response:
    """Record the topics that a reviewer chose for a file."""
    correct = partial(desk.store.desk.correct_topics, file_id, label or ())
    return _written(file_id, user, desk, seen, listed, correct, "topics")


def _written(
    file_id: int, user: User, desk: Desk, seen: int, listed: str, write: Callable[..., Any], notice_name: str
) -> Response:
    """Write a correction and return to the item; of a file that was examined again nothing is written."""
    try:
        write(seen=seen, reviewer=user.name, now=desk.now())
    except ConflictError:
        notice_name = "changed"
    return RedirectResponse(read_string(listed).url(f"/items/{file_id}", said=notice_name), 303)


def _span(start: str, end: str) -> Span:
    first, last = _number(_("from character"), start), _number(_("to before"), end)
    if first >= last:
        message = _(
            "characters {first} to {last}: expected the first before the last", first=first, last=last
        )
        raise InputError(message)
    return Span(first, last)


def _number(field: str, text: str) -> int:
    text = text.strip()
    if not (text.isascii() and text.isdecimal()):
        message = _("{field}: expected a number of characters", field=field)
        raise InputError(message)
    return int(text)
