"""All tables of the report in the order of the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from phiscan.health.topics import label_of
from phiscan.language import Lazy, lazy_join
from phiscan.language import lazy_gettext as _
from phiscan.report.data.report import DecisionRow, Group, ReportData
from phiscan.report.rendering import tables_estimated
from phiscan.report.rendering.table import Cell, Column, Table
from phiscan.report.rendering.tables_desk import tables_desk
from phiscan.report.words import CHARACTERISTICS, ENTITY_TYPES, FORMATS, REASONS, part_detail, plain


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
        tables_estimated.sample(data),
        tables_estimated.pairs(data),
        tables_estimated.models(data),
        tables_estimated.accuracy(data),
        tables_estimated.features(data),
        tables_estimated.formats(data),
        tables_estimated.second_histories(data),
        tables_estimated.second_pairs(data),
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
        Column("part", _("Part"), "path"),
        Column("reason", _("Why")),
        Column("detail", _("Technical detail")),
    )
    rows = [(u.path, u.locator, plain(u.reason), u.detail) for u in data.coverage.unread]
    return Table("unread", _("Files and parts that could not be read"), columns, tuple(rows), cap=40)


def _sampled(data: ReportData) -> Table:
    columns = (
        Column("path", _("File"), "path"),
        Column("part", _("Part"), "path"),
        Column("left_out", _("Left out")),
    )
    rows = [(u.path, u.locator, part_detail(u.detail)) for u in data.coverage.sampled]
    return Table("sampled", _("Long files that samples refer"), columns, tuple(rows), cap=40)


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
        Column("type", _("Identifier")),
        Column("findings", _("Findings"), "count"),
        Column("distinct", _("Distinct values"), "count"),
        Column("files", _("Referred files"), "count"),
        Column("phi_files", _("Confirmed files"), "count"),
    )
    rows = [(t.label, t.findings, t.distinct, t.files, t.phi_files) for t in data.findings_by_type]
    return Table(
        "findings", _("Findings in referred files, by identifier"), columns, tuple(rows), bar="findings"
    )


def _type_levels(data: ReportData) -> Table:
    columns = (
        Column("level", _("Level"), "id"),
        Column("label", _("Identifier")),
        Column("under", _("Under")),
        Column("findings", _("Findings"), "count"),
        Column("distinct", _("Distinct values"), "count"),
        Column("files", _("Referred files"), "count"),
        Column("phi_files", _("Confirmed files"), "count"),
    )
    rows = [
        (str(c.level), c.label, c.parent, c.findings, c.distinct, c.files, c.phi_files)
        for c in data.type_levels.counts
    ]
    caption = _("Findings in referred files, from all identifiers over those of HIPAA to the fine types")
    return Table("type_levels", caption, columns, tuple(rows), bar="findings")


def _groups(
    name: str, caption: str, label: str, groups: Sequence[Group], words: Mapping[str, str] | None = None
) -> Table:
    columns = (
        Column("name", label, "text" if words else "path"),
        Column("files", _("Files"), "count"),
        Column("read", _("Read"), "count"),
        Column("not_read", _("Not read"), "count"),
        Column("identifiers", _("With identifiers"), "count"),
        Column("referred", _("Referred"), "count"),
        Column("phi", _("PHI"), "count"),
        Column("not_phi", _("Not PHI"), "count"),
        Column("people", _("People"), "count"),
    )
    rows = [
        (
            (words or {}).get(g.name, g.name),
            g.crawled,
            g.read,
            g.not_read,
            g.screened_positive,
            g.referred,
            g.phi,
            g.not_phi,
            g.people,
        )
        for g in groups
    ]
    return Table(name, caption, columns, tuple(rows), bar="referred", cap=30)


def _top(data: ReportData) -> Table:
    columns = (
        Column("file", _("No."), "id"),
        Column("path", _("File"), "path"),
        Column("findings", _("Findings, by type")),
        Column("characteristics", _("Characteristics"), shown=False),
        Column("case", _("Why referred")),
        Column("people", _("People"), "count"),
        Column("health", _("Health"), "number"),
        Column("detectors", _("Detectors")),
        Column("risk", _("Risk"), "number"),
        Column("verdict", _("Verdict"), "verdict"),
    )
    labels = {bit.value: label for bit, (label, _) in CHARACTERISTICS.items()}
    kinds = {str(kind): label for kind, label in ENTITY_TYPES.items()}
    rows = [
        (
            str(f.file),
            f.path,
            lazy_join(", ", [lazy_join(" ", [kinds[name], str(n)]) for name, n in _by_count(f.findings)]),
            lazy_join(", ", [labels[bit] for bit in f.bits]),
            plain(f.case),
            f.people,
            f.health_score,
            lazy_join(", ", [plain(name) for name in f.detectors]),
            f.risk,
            f.verdict,
        )
        for f in data.top_files
    ]
    return Table("top", _("Referred files of the highest risk, reasons masked"), columns, tuple(rows), cap=25)


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
    rows = [(r.reviewer, r.phi, r.not_phi, r.unsure, r.superseded, r.first, r.last) for r in data.reviewers]
    return Table("reviewers", _("Standing decisions by person"), columns, tuple(rows))


def _decisions(data: ReportData) -> Table:
    columns = (
        Column("decision", _("No."), "id"),
        Column("decided", _("When"), "time"),
        Column("reviewer", _("Who")),
        Column("path", _("File"), "path"),
        Column("verdict", _("Verdict"), "verdict"),
        Column("standing", _("Counts now")),
    )
    rows = [(str(d.decision), d.decided, d.reviewer, d.path, d.verdict, _standing(d)) for d in data.decisions]
    return Table("decisions", _("Every decision, the newest first"), columns, tuple(rows), cap=30)


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
        Column("label", _("Health concept")),
        Column("files", _("Referred files"), "count"),
        Column("phi_files", _("Confirmed files"), "count"),
        Column("hits", _("Occurrences"), "count"),
    )
    rows = [(t.concept, Lazy(label_of, t.concept), t.files, t.phi_files, t.hits) for t in data.topics]
    return Table("topics", _("Health concepts in referred files"), columns, tuple(rows), bar="files", cap=30)


def _by_count(counts: Mapping[str, int]) -> Iterable[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
