"""The tables of owners, change, oversight, corrections, blind review and worksheets."""

from __future__ import annotations

from collections.abc import Sequence

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
        Column("owner", "Owner"),
        Column("files", "Files", "count"),
        Column("read", "Read", "count"),
        Column("referred", "Referred", "count"),
        Column("phi", "PHI", "count"),
        Column("not_phi", "Not PHI", "count"),
        Column("findings", "Findings", "count"),
        Column("people", "People (est.)", "count"),
        Column("everyone", "Read: all", "count"),
        Column("group", "a group", "count"),
        Column("owner_only", "owner only", "count"),
        Column("unknown", "not known", "count"),
        Column("types", "Most frequent findings"),
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
            ", ".join(f"{ENTITY_TYPES[EntityType(name)]} {n}" for name, n in o.top_types.items()),
        )
        for o in data.owners
    ]
    return Table("owners", "By owner, and who may read the referred files", columns, tuple(rows), cap=30)


def _readers(data: ReportData) -> Table:
    columns = (
        Column("reader", "May read"),
        Column("referred", "Referred files", "count"),
        Column("phi", "Confirmed files", "count"),
    )
    rows = [(r.reader, r.referred, r.phi) for r in data.readers]
    caption = "Who may read referred files, by name, where the share gave names"
    return Table("readers", caption, columns, tuple(rows), bar="referred", cap=30)


def _change(data: ReportData) -> Table:
    change = data.change
    columns = (
        Column("what", "Files"),
        Column("files", "Number", "count"),
        Column("meaning", "What it means"),
    )
    numbers: tuple[tuple[str, int | None, str], ...] = (
        ("new", change.new, "not there before"),
        ("moved", change.moved, "at a new place, with the content of a file that is gone"),
        ("changed", change.changed, "other content than before"),
        ("same", change.same, "the same content as before"),
        ("now read", change.now_read, "could not be read, or was passed over, before"),
        ("no longer read", change.no_longer_read, "was read before"),
        ("never read", change.never_read, "neither now nor before"),
        ("deleted", change.deleted, "gone, and not met at another place"),
        ("copies", change.copies, "taken over by this scan from an equal content elsewhere"),
        ("newly referred", change.newly_referred, "not referred before, or not there"),
        ("newly referred: new", change.newly_referred_new, "new, or not read before"),
        ("newly referred: changed", change.newly_referred_changed, "because the content changed"),
        ("newly referred: judged anew", change.newly_referred_same, "same content, other rules or models"),
        ("no longer referred", change.no_longer_referred, "still there"),
        ("referred and gone", change.referred_gone, "referred before, deleted since"),
        ("still referred", change.still_referred, "moved ones among them"),
    )
    rows: tuple[tuple[Cell, ...], ...] = numbers if change.previous is not None else ()
    return Table("change", "Against the previous complete scan of the same folders", columns, rows)


def _changed_files(data: ReportData) -> Table:
    columns = (
        Column("change", "Change"),
        Column("file", "No.", "id"),
        Column("path", "File", "path"),
        Column("now_at", "Now at", "path"),
    )
    rows = [(c.change, str(c.file), c.path, c.now_at) for c in data.change.files]
    caption = "Files newly referred, no longer referred, moved or deleted"
    return Table("changed_files", caption, columns, tuple(rows), cap=30)


_RATES = (
    Column("precision", "Precision", "number"),
    Column("recall", "Recall", "number"),
    Column("f1", "F1", "number"),
)


def _rates(one: SpanScore | SchemeScore) -> tuple[Cell, ...]:
    return (one.precision, one.recall, one.f1)


def _score_columns(*names: str) -> tuple[Column, ...]:
    counts = tuple(Column(name, plain(name).capitalize(), "count") for name in names)
    return (*counts, *_RATES)


def _span_scores(data: ReportData) -> Table:
    columns = (
        Column("type", "Identifier"),
        *_score_columns("correct", "substitution", "insertion", "deletion"),
    )
    scores = data.span_scores
    found: Sequence[SpanScore] = [scores.overall, *scores.by_type] if scores.overall else []
    rows = [(s.label, s.correct, s.substitution, s.insertion, s.deletion, *_rates(s)) for s in found]
    return Table("span_scores", "The machine's spans against the reviewers'", columns, tuple(rows))


def _schemes(data: ReportData) -> Table:
    columns = (
        Column("scheme", "Way of counting"),
        *_score_columns("correct", "incorrect", "partial", "missed", "spurious"),
    )
    rows = [
        (s.scheme, s.correct, s.incorrect, s.partial, s.missed, s.spurious, *_rates(s))
        for s in data.span_scores.schemes
    ]
    return Table("span_schemes", "The same spans, counted in four ways", columns, tuple(rows))


def _topic_scores(data: ReportData) -> Table:
    columns = (
        Column("level", "Level"),
        Column("view", "Labels"),
        Column("tp", "Both", "count"),
        Column("fp", "Machine only", "count"),
        Column("fn", "Reviewer only", "count"),
        *_RATES,
    )
    names = {None: "all levels", 0: "0, chapter", 1: "1, any health topic"}
    rows = [
        (names[s.level], s.view, s.tp, s.fp, s.fn, s.precision, s.recall, s.f1)
        for s in data.topic_scores.scores
    ]
    return Table("topic_scores", "The machine's topics against the reviewers'", columns, tuple(rows))


def _blind_pairs(data: ReportData) -> Table:
    columns = (
        Column("first", "First"),
        Column("second", "Blind second"),
        Column("files", "Files", "count"),
        Column("same", "Same verdict", "count"),
        Column("both_phi", "Both PHI", "count"),
        Column("kappa", "Kappa", "ratio"),
        Column("positive_agreement", "Positive agreement", "ratio"),
        Column("pabak", "PABAK", "ratio"),
    )
    rows = [
        (p.first, p.second, p.files, p.same, p.both_phi, p.kappa, p.positive_agreement, p.pabak)
        for p in data.blind_review.pairs
    ]
    return Table(
        "blind_agreement", "First and blind second verdicts, by person", columns, tuple(rows), cap=30
    )


def _revealers(data: ReportData) -> Table:
    columns = (
        Column("who", "Who"),
        Column("reveals", "Reveals", "count"),
        Column("files", "Files", "count"),
        Column("first", "First", "time"),
        Column("last", "Last", "time"),
    )
    rows = [(r.revealed_by, r.reveals, r.files, r.first, r.last) for r in data.oversight.revealers]
    return Table("revealers", "Requests to see texts", columns, tuple(rows))


def _reveals(data: ReportData) -> Table:
    columns = (
        Column("reveal", "No.", "id"),
        Column("when", "When", "time"),
        Column("who", "Who"),
        Column("file", "File no.", "id"),
        Column("path", "File", "path"),
        Column("purpose", "What for"),
    )
    rows = [
        (str(r.reveal), r.revealed, r.revealed_by, str(r.file), r.path, r.purpose)
        for r in data.oversight.reveals
    ]
    return Table("reveals", "Every reveal, the newest first", columns, tuple(rows), cap=30)


def _suppressions(data: ReportData) -> Table:
    columns = (
        Column("suppression", "No.", "id"),
        Column("what", "Passes over"),
        Column("where", "Where", "path"),
        Column("status", "Status"),
        Column("hid_when_made", "Hid when made", "count"),
        Column("hides_now", "Hides now", "count"),
        Column("made_by", "Made by"),
        Column("made", "Made", "time"),
        Column("approved_by", "Approved by"),
        Column("until", "Ends", "time"),
        Column("lifted_by", "Lifted by"),
    )
    rows = [
        (
            str(s.suppression),
            f"rule {s.rule}" if s.rule else "one value",
            s.where,
            s.status,
            s.hid_when_made,
            s.hides_now,
            s.made_by,
            s.made,
            s.approved_by or ("waits for a lead" if s.needs_approval else "not needed"),
            s.until,
            s.lifted_by,
        )
        for s in data.oversight.suppressions
    ]
    return Table("suppressions", "Every suppression, the newest first", columns, tuple(rows), cap=30)


def _sign_offs(data: ReportData) -> Table:
    columns = (
        Column("reviewer", "Who"),
        Column("at", "When", "time"),
        Column("entries", "Up to entry", "count"),
        Column("since", "Entries since", "count"),
        Column("holds", "That entry"),
        Column("head", "Hash that was signed", "path"),
    )
    said = {True: "has that hash", False: "has another hash", None: "was purged by policy"}
    rows = [(s.reviewer, s.at, s.entries, s.since, said[s.holds], s.head) for s in data.oversight.sign_offs]
    return Table("sign_offs", "Who has reviewed the audit log", columns, tuple(rows), cap=30)


def _worksheets(data: ReportData) -> Table:
    columns = (
        Column("file", "No.", "id"),
        Column("path", "File", "path"),
        Column("discovered", "Taken as discovered", "time"),
        Column("people", "People (estimate)", "count"),
        Column("kinds", "Kinds of identifiers", "count"),
        Column("owner", "Owner"),
        Column("exposure", "Who may read"),
        Column("page", "Worksheet", "path"),
    )
    rows = [
        (str(w.file), w.path, w.discovered, w.people, len(w.identifiers), w.owner, w.exposure, w.page)
        for w in data.worksheets
    ]
    caption = "A breach worksheet for each confirmed file, the first discovered first"
    return Table("worksheets", caption, columns, tuple(rows), cap=N_WORKSHEETS_SHOWN)


def _clocks(data: ReportData) -> Table:
    columns = (
        Column("file", "No.", "id"),
        Column("duty", "Duty", "id"),
        Column("law", "Law"),
        Column("due", "Due", "time"),
        Column("source", "Source"),
    )
    duties = {duty.id: duty for duty in data.duties}
    rows = [
        (str(w.file), name, duties[name].law, moment, duties[name].source)
        for w in data.worksheets
        for name, moment in w.due.items()
    ]
    return Table("clocks", "Deadline of each duty, by file", columns, tuple(rows), cap=N_WORKSHEETS_SHOWN)


def _duties(data: ReportData) -> Table:
    columns = (
        Column("law", "Law"),
        Column("what", "What"),
        Column("due_in_words", "By when"),
        Column("starts", "Runs from"),
        Column("applies", "Applies to"),
        Column("source", "Source"),
        Column("duty", "Duty", "id", shown=False),
    )
    rows = [(d.law, d.duty, d.due_in_words, d.starts, d.applies, d.source, d.id) for d in data.duties]
    return Table("duties", "What the laws require", columns, tuple(rows))
