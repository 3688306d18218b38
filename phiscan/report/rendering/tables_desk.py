"""The tables of owners, change, oversight, corrections, blind review and worksheets."""

from __future__ import annotations

from collections.abc import Sequence

from phiscan.language import lazy_gettext as _
from phiscan.language import lazy_join, lazy_pgettext
from phiscan.model import EntityType
from phiscan.report.data.desk import SchemeScore, SpanScore
from phiscan.report.data.report import ReportData
from phiscan.report.rendering.table import Cell, Column, Table
from phiscan.report.words import ENTITY_TYPES, plain

N_WORKSHEETS_SHOWN = 40


def tables_desk(data: ReportData) -> tuple[Table, ...]:
    """Return the tables in the order of the page."""
    return (
        _owners(data),
        _readers(data),
        _change(data),
        _changed_files(data),
        _span_scores(data),
        _schemes(data),
        _topic_scores(data),
        _blind_pairs(data),
        _revealers(data),
        _reveals(data),
        _suppressions(data),
        _sign_offs(data),
        _worksheets(data),
        _clocks(data),
        _duties(data),
    )


def _owners(data: ReportData) -> Table:
    columns = (
        Column("owner", _("Owner")),
        Column("files", _("Files"), "count"),
        Column("read", _("Read"), "count"),
        Column("referred", _("Referred"), "count"),
        Column("phi", _("PHI"), "count"),
        Column("not_phi", _("Not PHI"), "count"),
        Column("findings", _("Findings"), "count"),
        Column("people", _("People (est.)"), "count"),
        Column("everyone", _("Read: all"), "count"),
        Column("group", _("a group"), "count"),
        Column("owner_only", _("owner only"), "count"),
        Column("unknown", _("not known"), "count"),
        Column("types", _("Most frequent findings")),
    )
    rows = [
        (
            o.owner,
            o.crawled,
            o.read,
            o.referred,
            o.phi,
            o.not_phi,
            o.findings,
            o.people,
            o.everyone,
            o.group,
            o.owner_only,
            o.unknown,
            lazy_join(
                ", ",
                [lazy_join(" ", [ENTITY_TYPES[EntityType(name)], str(n)]) for name, n in o.top_types.items()],
            ),
        )
        for o in data.owners
    ]
    return Table("owners", _("By owner, and who may read the referred files"), columns, tuple(rows), cap=30)


def _readers(data: ReportData) -> Table:
    columns = (
        Column("reader", _("May read")),
        Column("referred", _("Referred files"), "count"),
        Column("phi", _("Confirmed files"), "count"),
    )
    rows = [(plain(r.reader), r.referred, r.phi) for r in data.readers]
    caption = _("Who may read referred files, by name, where the share gave names")
    return Table("readers", caption, columns, tuple(rows), bar="referred", cap=30)


def _change(data: ReportData) -> Table:
    change = data.change
    columns = (
        Column("what", _("Files")),
        Column("files", _("Number"), "count"),
        Column("meaning", _("What it means")),
    )
    numbers: tuple[tuple[str, int | None, str], ...] = (
        (_("new"), change.new, _("not there before")),
        (_("moved"), change.moved, _("at a new place, with the content of a file that is gone")),
        (_("changed"), change.changed, _("other content than before")),
        (_("same"), change.same, _("the same content as before")),
        (_("now read"), change.now_read, _("could not be read, or was passed over, before")),
        (_("no longer read"), change.no_longer_read, _("was read before")),
        (_("never read"), change.never_read, _("neither now nor before")),
        (_("deleted"), change.deleted, _("gone, and not met at another place")),
        (_("copies"), change.copies, _("taken over by this scan from an equal content elsewhere")),
        (_("newly referred"), change.newly_referred, _("not referred before, or not there")),
        (_("newly referred: new"), change.newly_referred_new, _("new, or not read before")),
        (_("newly referred: changed"), change.newly_referred_changed, _("because the content changed")),
        (
            _("newly referred: judged again"),
            change.newly_referred_same,
            _("same content, other rules or models"),
        ),
        (_("no longer referred"), change.no_longer_referred, _("still there")),
        (_("referred and gone"), change.referred_gone, _("referred before, deleted since")),
        (_("still referred"), change.still_referred, _("moved ones among them")),
    )
    rows: tuple[tuple[Cell, ...], ...] = numbers if change.previous is not None else ()
    return Table("change", _("Against the previous complete scan of the same folders"), columns, rows)


def _changed_files(data: ReportData) -> Table:
    columns = (
        Column("change", lazy_pgettext("noun", "Change")),
        Column("file", _("No."), "id"),
        Column("path", _("File"), "path"),
        Column("now_at", _("Now at"), "path"),
    )
    rows = [(c.change, str(c.file), c.path, c.now_at) for c in data.change.files]
    caption = _("Files newly referred, no longer referred, moved or deleted")
    return Table("changed_files", caption, columns, tuple(rows), cap=30)


_RATES = (
    Column("precision", _("Precision"), "number"),
    Column("recall", _("Recall"), "number"),
    Column("f1", "F1", "number"),
)


def _rates(one: SpanScore | SchemeScore) -> tuple[Cell, ...]:
    return (one.precision, one.recall, one.f1)


_SCORES = {
    "correct": _("Correct"),
    "incorrect": _("Incorrect"),
    "partial": _("Partial"),
    "missed": _("Missed"),
    "spurious": _("Spurious"),
    "substitution": _("Substitution"),
    "insertion": _("Insertion"),
    "deletion": _("Deletion"),
}


def _score_columns(*names: str) -> tuple[Column, ...]:
    counts = tuple(Column(name, _SCORES[name], "count") for name in names)
    return (*counts, *_RATES)


def _span_scores(data: ReportData) -> Table:
    columns = (
        Column("type", _("Identifier")),
        *_score_columns("correct", "substitution", "insertion", "deletion"),
    )
    scores = data.span_scores
    found: Sequence[SpanScore] = [scores.overall, *scores.by_type] if scores.overall else []
    rows = [(s.label, s.correct, s.substitution, s.insertion, s.deletion, *_rates(s)) for s in found]
    return Table("span_scores", _("The machine's spans against the reviewers'"), columns, tuple(rows))


def _schemes(data: ReportData) -> Table:
    columns = (
        Column("scheme", _("Way of counting")),
        *_score_columns("correct", "incorrect", "partial", "missed", "spurious"),
    )
    rows = [
        (plain(s.scheme), s.correct, s.incorrect, s.partial, s.missed, s.spurious, *_rates(s))
        for s in data.span_scores.schemes
    ]
    return Table("span_schemes", _("The same spans, counted in four ways"), columns, tuple(rows))


def _topic_scores(data: ReportData) -> Table:
    columns = (
        Column("level", _("Level")),
        Column("view", _("Labels")),
        Column("tp", _("Both"), "count"),
        Column("fp", _("Machine only"), "count"),
        Column("fn", _("Reviewer only"), "count"),
        *_RATES,
    )
    names = {None: _("all levels"), 0: _("0, chapter"), 1: _("1, any health topic")}
    rows = [
        (names[s.level], s.view, s.tp, s.fp, s.fn, s.precision, s.recall, s.f1)
        for s in data.topic_scores.scores
    ]
    return Table("topic_scores", _("The machine's topics against the reviewers'"), columns, tuple(rows))


def _blind_pairs(data: ReportData) -> Table:
    columns = (
        Column("first", _("First")),
        Column("second", _("Blind second")),
        Column("files", _("Files"), "count"),
        Column("same", _("Same verdict"), "count"),
        Column("both_phi", _("Both PHI"), "count"),
        Column("kappa", _("Kappa"), "ratio"),
        Column("positive_agreement", _("Positive agreement"), "ratio"),
        Column("pabak", _("PABAK"), "ratio"),
    )
    rows = [
        (p.first, p.second, p.files, p.same, p.both_phi, p.kappa, p.positive_agreement, p.pabak)
        for p in data.blind_review.pairs
    ]
    return Table(
        "blind_agreement", _("First and blind second verdicts, by person"), columns, tuple(rows), cap=30
    )


def _revealers(data: ReportData) -> Table:
    columns = (
        Column("who", _("Who")),
        Column("reveals", _("Reveals"), "count"),
        Column("files", _("Files"), "count"),
        Column("first", _("First"), "time"),
        Column("last", _("Last"), "time"),
    )
    rows = [(r.revealed_by, r.reveals, r.files, r.first, r.last) for r in data.oversight.revealers]
    return Table("revealers", _("Requests to see texts"), columns, tuple(rows))


def _reveals(data: ReportData) -> Table:
    columns = (
        Column("reveal", _("No."), "id"),
        Column("when", _("When"), "time"),
        Column("who", _("Who")),
        Column("file", _("File no."), "id"),
        Column("path", _("File"), "path"),
        Column("purpose", _("What for")),
    )
    rows = [
        (str(r.reveal), r.revealed, r.revealed_by, str(r.file), r.path, r.purpose)
        for r in data.oversight.reveals
    ]
    return Table("reveals", _("Every reveal, the newest first"), columns, tuple(rows), cap=30)


def _suppressions(data: ReportData) -> Table:
    columns = (
        Column("suppression", _("No."), "id"),
        Column("what", _("Passes over")),
        Column("where", _("Where"), "path"),
        Column("status", _("Status")),
        Column("hid_when_made", _("Hid when made"), "count"),
        Column("hides_now", _("Hides now"), "count"),
        Column("made_by", _("Made by")),
        Column("made", _("Made"), "time"),
        Column("approved_by", _("Approved by")),
        Column("until", _("Ends"), "time"),
        Column("lifted_by", _("Lifted by")),
    )
    rows = [
        (
            str(s.suppression),
            _("rule {rule}", rule=s.rule) if s.rule else _("one value"),
            s.where,
            plain(s.status),
            s.hid_when_made,
            s.hides_now,
            s.made_by,
            s.made,
            s.approved_by or (_("waits for a lead") if s.needs_approval else _("not needed")),
            s.until,
            s.lifted_by,
        )
        for s in data.oversight.suppressions
    ]
    return Table("suppressions", _("Every suppression, the newest first"), columns, tuple(rows), cap=30)


def _sign_offs(data: ReportData) -> Table:
    columns = (
        Column("reviewer", _("Who")),
        Column("at", _("When"), "time"),
        Column("entries", _("Up to entry"), "count"),
        Column("since", _("Entries since"), "count"),
        Column("holds", _("That entry")),
        Column("head", _("Hash that was signed"), "path"),
    )
    hash_status = {True: _("has that hash"), False: _("has another hash"), None: _("was purged by policy")}
    rows = [
        (s.reviewer, s.at, s.entries, s.since, hash_status[s.holds], s.head) for s in data.oversight.sign_offs
    ]
    return Table("sign_offs", _("Who has reviewed the audit log"), columns, tuple(rows), cap=30)


def _worksheets(data: ReportData) -> Table:
    columns = (
        Column("file", _("No."), "id"),
        Column("path", _("File"), "path"),
        Column("discovered", _("Taken as discovered"), "time"),
        Column("people", _("People (estimate)"), "count"),
        Column("kinds", _("Kinds of identifiers"), "count"),
        Column("owner", _("Owner")),
        Column("exposure", _("Who may read")),
        Column("page", _("Worksheet"), "path"),
    )
    rows = [
        (str(w.file), w.path, w.discovered, w.people, len(w.identifiers), w.owner, w.exposure, w.page)
        for w in data.worksheets
    ]
    caption = _("A breach worksheet for each confirmed file, the first discovered first")
    return Table("worksheets", caption, columns, tuple(rows), cap=N_WORKSHEETS_SHOWN)


def _clocks(data: ReportData) -> Table:
    columns = (
        Column("file", _("No."), "id"),
        Column("duty", _("Duty"), "id"),
        Column("law", _("Law")),
        Column("due", _("Due"), "time"),
        Column("source", _("Source")),
    )
    duties = {duty.id: duty for duty in data.duties}
    rows = [
        (str(w.file), name, duties[name].law, moment, duties[name].source)
        for w in data.worksheets
        for name, moment in w.due.items()
    ]
    return Table("clocks", _("Deadline of each duty, by file"), columns, tuple(rows), cap=N_WORKSHEETS_SHOWN)


def _duties(data: ReportData) -> Table:
    columns = (
        Column("law", _("Law")),
        Column("what", _("What")),
        Column("due_in_words", _("By when")),
        Column("starts", _("Runs from")),
        Column("applies", _("Applies to")),
        Column("source", _("Source")),
        Column("duty", _("Duty"), "id", shown=False),
    )
    rows = [(d.law, d.duty, d.due_in_words, d.starts, d.applies, d.source, d.id) for d in data.duties]
    return Table("duties", _("What the laws require"), columns, tuple(rows))
