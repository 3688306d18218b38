"""All tables of the report in the order of the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from phiscan.health.topics import label_of
from phiscan.language import Lazy, lazy_join, lazy_pgettext
from phiscan.language import lazy_gettext as _
from phiscan.model import EntityType
from phiscan.report.data.desk import SpanScore
from phiscan.report.data.report import DecisionRow, Group, ReportData, TopFile
from phiscan.report.rendering import tables_estimated
from phiscan.report.rendering.table import Cell, Column, Table, table_of
from phiscan.report.words import CHARACTERISTICS, ENTITY_TYPES, FORMATS, REASONS, part_detail, plain


def tables_desk(data: ReportData) -> tuple[Table, ...]:
    """Return the tables in the order of the page."""
    return (
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
        _incidents(data),
    )


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
    caption = _("Files newly referred, no longer referred, moved or deleted")
    return table_of("changed_files", caption, columns, data.change.files, cap=30)


_RATES = (
    Column("precision", _("Precision"), "number"),
    Column("recall", _("Recall"), "number"),
    Column("f1", "F1", "number"),
)


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
        Column("type", _("Identifier"), of="label"),
        *_score_columns("correct", "substitution", "insertion", "deletion"),
    )
    scores = data.span_scores
    found: Sequence[SpanScore] = [scores.overall, *scores.by_type] if scores.overall else []
    return table_of("span_scores", _("The machine's spans against the reviewers'"), columns, found)


def _schemes(data: ReportData) -> Table:
    columns = (
        Column("scheme", _("Way of counting"), of=lambda s: plain(s.scheme)),
        *_score_columns("correct", "incorrect", "partial", "missed", "spurious"),
    )
    return table_of(
        "span_schemes", _("The same spans, counted in four ways"), columns, data.span_scores.schemes
    )


def _topic_scores(data: ReportData) -> Table:
    columns = (
        Column("level", _("Level"), of=lambda s: names[s.level]),
        Column("view", _("Labels")),
        Column("tp", _("Both"), "count"),
        Column("fp", _("Machine only"), "count"),
        Column("fn", _("Reviewer only"), "count"),
        *_RATES,
    )
    names = {None: _("all levels"), 0: _("0, chapter"), 1: _("1, any health topic")}
    return table_of(
        "topic_scores", _("The machine's topics against the reviewers'"), columns, data.topic_scores.scores
    )


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
    return table_of(
        "blind_agreement",
        _("First and blind second verdicts, by person"),
        columns,
        data.blind_review.pairs,
        cap=30,
    )


def _revealers(data: ReportData) -> Table:
    columns = (
        Column("who", _("Who"), of="revealed_by"),
        Column("reveals", _("Reveals"), "count"),
        Column("files", _("Files"), "count"),
        Column("first", _("First"), "time"),
        Column("last", _("Last"), "time"),
    )
    return table_of("revealers", _("Requests to see texts"), columns, data.oversight.revealers)


def _reveals(data: ReportData) -> Table:
    columns = (
        Column("reveal", _("No."), "id"),
        Column("when", _("When"), "time", of="revealed"),
        Column("who", _("Who"), of="revealed_by"),
        Column("file", _("File no."), "id"),
        Column("path", _("File"), "path"),
        Column("purpose", _("What for")),
    )
    return table_of("reveals", _("Every reveal, the newest first"), columns, data.oversight.reveals, cap=30)


def _suppressions(data: ReportData) -> Table:
    columns = (
        Column("suppression", _("No."), "id"),
        Column(
            "what", _("Passes over"), of=lambda s: _("rule {rule}", rule=s.rule) if s.rule else _("one value")
        ),
        Column("where", _("Where"), "path"),
        Column("status", _("Status"), of=lambda s: plain(s.status)),
        Column("hid_when_made", _("Hid when made"), "count"),
        Column("hides_now", _("Hides now"), "count"),
        Column("made_by", _("Made by")),
        Column("made", _("Made"), "time"),
        Column(
            "approved_by",
            _("Approved by"),
            of=lambda s: s.approved_by or (_("waits for a lead") if s.needs_approval else _("not needed")),
        ),
        Column("until", _("Ends"), "time"),
        Column("lifted_by", _("Lifted by")),
    )
    return table_of(
        "suppressions", _("Every suppression, the newest first"), columns, data.oversight.suppressions, cap=30
    )


def _sign_offs(data: ReportData) -> Table:
    columns = (
        Column("reviewer", _("Who")),
        Column("at", _("When"), "time"),
        Column("entries", _("Up to entry"), "count"),
        Column("since", _("Entries since"), "count"),
        Column("holds", _("That entry"), of=lambda s: hash_status[s.holds]),
        Column("head", _("Hash that was signed"), "path"),
    )
    hash_status = {True: _("has that hash"), False: _("has another hash"), None: _("was purged by policy")}
    return table_of(
        "sign_offs", _("Who has reviewed the audit log"), columns, data.oversight.sign_offs, cap=30
    )


def _incidents(data: ReportData) -> Table:
    columns = (
        Column("incident", _("No."), "id", of="number"),
        Column("state", _("State"), of=lambda one: plain(one.state)),
        Column("opened", _("Opened"), "time"),
        Column("files", _("Files"), "count"),
        Column("here", _("Files of this scan"), "count"),
    )
    return table_of(
        "incidents", _("Incidents with files of this scan, the newest first"), columns, data.incidents
    )


def _counted(types: Mapping[str, int]) -> str:
    return lazy_join(
        ", ", [lazy_join(" ", [ENTITY_TYPES[EntityType(name)], str(n)]) for name, n in types.items()]
    )


def tables(data: ReportData) -> dict[str, Table]:
    """Return every table of the report by its id, in the order of the page."""
    made = (
        _versions(data),
        _outcomes(data),
        _unread(data),
        _sampled(data),
        _funnel(data),
        tables_estimated.screening("screening", _("The whole screen: referred to review"), [data.overall]),
        tables_estimated.screening(
            "characteristics", _("Each characteristic as a separate screen"), data.characteristics
        ),
        tables_estimated.relative(data),
        tables_estimated.screening("detectors", _("Each detector as a separate screen"), data.detectors),
        tables_estimated.histories(data),
        tables_estimated.pairs(data),
        tables_estimated.models(data),
        tables_estimated.accuracy(data),
        tables_estimated.features(data),
        tables_estimated.formats(data),
        _types(data),
        _type_levels(data),
        _groups("formats", _("By format, as found in the content"), _("Format"), data.formats, FORMATS),
        _groups("folders", _("By folder"), _("Folder"), data.folders),
        _top(data),
        tables_estimated.agreement(data),
        tables_estimated.estimates(data),
        _reviewers(data),
        _decisions(data),
        _people(data),
        _topics(data),
        *tables_desk(data),
    )
    return {table.id: table for table in made}


def _versions(data: ReportData) -> Table:
    columns = (Column("what", _("What")), Column("version", _("Version or hash"), "path"))
    rows = [(plain(name), version) for name, version in data.scope.versions.items()]
    return Table("versions", _("What the results depend on"), columns, tuple(rows))


def _outcomes(data: ReportData) -> Table:
    coverage = data.coverage
    columns = (
        Column("outcome", _("Outcome")),
        Column("reason", _("Reason")),
        Column("files", _("Files"), "count"),
        Column("meaning", _("What it means")),
    )
    rows: list[tuple[Cell, ...]] = [
        (plain("screened"), "", coverage.screened, _("read and screened in this scan")),
        (
            plain("unchanged"),
            "",
            coverage.unchanged,
            _("read in an earlier scan, not changed since; its result is kept"),
        ),
    ]
    for outcome, counts in (("skipped", coverage.skipped), ("failed", coverage.failed)):
        rows += [(plain(outcome), plain(name), n, REASONS.get(name, "")) for name, n in _by_count(counts)]
        if not counts:
            rows.append((plain(outcome), "", 0, _("none")))
    return Table("outcomes", _("What became of every crawled file"), columns, tuple(rows))


def _unread(data: ReportData) -> Table:
    columns = (
        Column("path", _("File"), "path"),
        Column("part", _("Part"), "path", of="locator"),
        Column("reason", _("Why"), of=lambda u: plain(u.reason)),
        Column("detail", _("Technical detail")),
    )
    return table_of(
        "unread", _("Files and parts that could not be read"), columns, data.coverage.unread, cap=40
    )


def _sampled(data: ReportData) -> Table:
    columns = (
        Column("path", _("File"), "path"),
        Column("part", _("Part"), "path", of="locator"),
        Column("left_out", _("Left out"), of=lambda u: part_detail(u.detail)),
    )
    return table_of("sampled", _("Long files that samples refer"), columns, data.coverage.sampled, cap=40)


def _funnel(data: ReportData) -> Table:
    funnel = data.funnel
    columns = (Column("step", _("Step")), Column("files", _("Files"), "count"))
    rows: tuple[tuple[Cell, ...], ...] = (
        (_("Crawled"), funnel.crawled),
        (_("Read"), funnel.read),
        (_("Identifiers present"), funnel.screened_positive),
        (_("Referred to review"), funnel.referred),
        (_("Decided by people"), funnel.reviewed),
        (_("Confirmed as PHI"), funnel.phi),
    )
    return Table("funnel", _("From the share to confirmed PHI"), columns, rows, bar="files")


def _types(data: ReportData) -> Table:
    columns = (
        Column("type", _("Identifier"), of="label"),
        Column("findings", _("Findings"), "count"),
        Column("distinct", _("Distinct values"), "count"),
        Column("files", _("Referred files"), "count"),
        Column("phi_files", _("Confirmed files"), "count"),
    )
    return table_of(
        "findings",
        _("Findings in referred files, by identifier"),
        columns,
        data.findings_by_type,
        bar="findings",
    )


def _type_levels(data: ReportData) -> Table:
    columns = (
        Column("level", _("Level"), "id"),
        Column("label", _("Identifier")),
        Column("under", _("Under"), of="parent"),
        Column("findings", _("Findings"), "count"),
        Column("distinct", _("Distinct values"), "count"),
        Column("files", _("Referred files"), "count"),
        Column("phi_files", _("Confirmed files"), "count"),
    )
    caption = _("Findings in referred files, from all identifiers over those of HIPAA to the fine types")
    return table_of("type_levels", caption, columns, data.type_levels.counts, bar="findings")


def _groups(
    name: str, caption: str, label: str, groups: Sequence[Group], words: Mapping[str, str] | None = None
) -> Table:
    columns = (
        Column("name", label, "text" if words else "path", of=lambda g: (words or {}).get(g.name, g.name)),
        Column("files", _("Files"), "count", of="crawled"),
        Column("read", _("Read"), "count"),
        Column("not_read", _("Not read"), "count"),
        Column("identifiers", _("With identifiers"), "count", of="screened_positive"),
        Column("referred", _("Referred"), "count"),
        Column("phi", _("PHI"), "count"),
        Column("not_phi", _("Not PHI"), "count"),
        Column("people", _("People"), "count"),
    )
    return table_of(name, caption, columns, groups, bar="referred", cap=30)


def _top(data: ReportData) -> Table:
    labels = {bit.value: label for bit, (label, _) in CHARACTERISTICS.items()}
    kinds = {str(kind): label for kind, label in ENTITY_TYPES.items()}

    def found(f: TopFile) -> str:
        return lazy_join(", ", [lazy_join(" ", [kinds[name], str(n)]) for name, n in _by_count(f.findings)])

    columns = (
        Column("file", _("No."), "id"),
        Column("path", _("File"), "path"),
        Column("findings", _("Findings, by type"), of=found),
        Column(
            "characteristics",
            _("Characteristics"),
            of=lambda f: lazy_join(", ", [labels[bit] for bit in f.bits]),
            shown=False,
        ),
        Column("case", _("Why referred"), of=lambda f: plain(f.case)),
        Column("people", _("People"), "count"),
        Column("health", _("Health"), "number", of="health_score"),
        Column(
            "detectors", _("Detectors"), of=lambda f: lazy_join(", ", [plain(name) for name in f.detectors])
        ),
        Column("risk", _("Risk"), "number"),
        Column("verdict", _("Verdict"), "verdict"),
    )
    caption = _("Referred files of the highest risk, reasons masked")
    return table_of("top", caption, columns, data.top_files, cap=25)


def _reviewers(data: ReportData) -> Table:
    columns = (
        Column("reviewer", _("Who")),
        Column("phi", _("PHI"), "count"),
        Column("not_phi", _("Not PHI"), "count"),
        Column("unsure", _("Unsure"), "count"),
        Column("superseded", _("Superseded"), "count"),
        Column("first", _("First decision"), "time"),
        Column("last", _("Last decision"), "time"),
    )
    return table_of("reviewers", _("Standing decisions by person"), columns, data.reviewers)


def _decisions(data: ReportData) -> Table:
    columns = (
        Column("decision", _("No."), "id"),
        Column("decided", _("When"), "time"),
        Column("reviewer", _("Who")),
        Column("path", _("File"), "path"),
        Column("verdict", _("Verdict"), "verdict"),
        Column("standing", _("Counts now"), of=_standing),
    )
    return table_of("decisions", _("Every decision, the newest first"), columns, data.decisions, cap=30)


def _standing(made: DecisionRow) -> str:
    if made.standing:
        return _("yes")
    return _("taken back") if made.undone else _("superseded")


def _people(data: ReportData) -> Table:
    columns = (Column("people", _("People in the file")), Column("files", _("Referred files"), "count"))
    return Table(
        "people",
        _("Referred files by people in each"),
        columns,
        tuple(data.people.bands.items()),
        bar="files",
    )


def _topics(data: ReportData) -> Table:
    columns = (
        Column("concept", _("Identifier of the concept"), shown=False),
        Column("label", _("Health concept"), of=lambda t: Lazy(label_of, t.concept)),
        Column("files", _("Referred files"), "count"),
        Column("phi_files", _("Confirmed files"), "count"),
        Column("hits", _("Occurrences"), "count"),
    )
    return table_of(
        "topics", _("Health concepts in referred files"), columns, data.topics, bar="files", cap=30
    )


def _by_count(counts: Mapping[str, int]) -> Iterable[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
