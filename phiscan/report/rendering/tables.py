"""Every table of the report, once, in the order of the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from phiscan.report.data.report import DecisionRow, Group, ReportData
from phiscan.report.rendering import tables_estimated
from phiscan.report.rendering.table import Cell, Column, Table
from phiscan.report.rendering.tables_desk import tables_desk
from phiscan.report.words import CHARACTERISTICS, ENTITY_TYPES, FORMATS, REASONS, plain


def tables(data: ReportData) -> dict[str, Table]:
    """Return every table of the report by its id, in the order of the page."""
    made = (
        _versions(data),
        _outcomes(data),
        _unread(data),
        _funnel(data),
        tables_estimated.screening("screening", "The whole screen: referred to review", [data.overall]),
        tables_estimated.screening(
            "characteristics", "Each characteristic as a screen of its own", data.characteristics
        ),
        tables_estimated.relative(data),
        tables_estimated.screening("detectors", "Each detector as a screen of its own", data.detectors),
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
        _groups("formats", "By format, as found in the content", "Format", data.formats, FORMATS),
        _groups("folders", "By folder", "Folder", data.folders),
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
    columns = (Column("what", "What"), Column("version", "Version or hash", "path"))
    rows = [(plain(name), version) for name, version in data.scope.versions.items()]
    return Table("versions", "What the results depend on", columns, tuple(rows))


def _outcomes(data: ReportData) -> Table:
    coverage = data.coverage
    columns = (
        Column("outcome", "Outcome"),
        Column("reason", "Reason"),
        Column("files", "Files", "count"),
        Column("meaning", "What it means"),
    )
    rows: list[tuple[Cell, ...]] = [
        ("screened", "", coverage.screened, "read and screened in this scan"),
        (
            "unchanged",
            "",
            coverage.unchanged,
            "read in an earlier scan, not changed since; its result is kept",
        ),
    ]
    for outcome, counts in (("skipped", coverage.skipped), ("failed", coverage.failed)):
        rows += [(outcome, plain(name), n, REASONS.get(name, "")) for name, n in _by_count(counts)]
        if not counts:
            rows.append((outcome, "", 0, "none"))
    return Table("outcomes", "What became of every crawled file", columns, tuple(rows))


def _unread(data: ReportData) -> Table:
    columns = (
        Column("path", "File", "path"),
        Column("part", "Part", "path"),
        Column("reason", "Why"),
        Column("detail", "Technical detail"),
    )
    rows = [(u.path, u.locator, plain(u.reason), u.detail) for u in data.coverage.unread]
    return Table("unread", "Files and parts that could not be read", columns, tuple(rows), cap=40)


def _funnel(data: ReportData) -> Table:
    funnel = data.funnel
    columns = (Column("step", "Step"), Column("files", "Files", "count"))
    rows: tuple[tuple[Cell, ...], ...] = (
        ("Crawled", funnel.crawled),
        ("Read", funnel.read),
        ("Identifiers present", funnel.screened_positive),
        ("Referred to review", funnel.referred),
        ("Decided by people", funnel.reviewed),
        ("Confirmed as PHI", funnel.phi),
    )
    return Table("funnel", "From the share to confirmed PHI", columns, rows, bar="files")


def _types(data: ReportData) -> Table:
    columns = (
        Column("type", "Identifier"),
        Column("findings", "Findings", "count"),
        Column("distinct", "Distinct values", "count"),
        Column("files", "Referred files", "count"),
        Column("phi_files", "Confirmed files", "count"),
    )
    rows = [(t.label, t.findings, t.distinct, t.files, t.phi_files) for t in data.findings_by_type]
    return Table(
        "findings", "Findings in referred files, by identifier", columns, tuple(rows), bar="findings"
    )


def _type_levels(data: ReportData) -> Table:
    columns = (
        Column("level", "Level", "id"),
        Column("label", "Identifier"),
        Column("under", "Under"),
        Column("findings", "Findings", "count"),
        Column("distinct", "Distinct values", "count"),
        Column("files", "Referred files", "count"),
        Column("phi_files", "Confirmed files", "count"),
    )
    rows = [
        (str(c.level), c.label, c.parent, c.findings, c.distinct, c.files, c.phi_files)
        for c in data.type_levels.counts
    ]
    caption = "Findings in referred files, from all identifiers over those of HIPAA to the fine types"
    return Table("type_levels", caption, columns, tuple(rows), bar="findings")


def _groups(
    name: str, caption: str, label: str, groups: Sequence[Group], words: Mapping[str, str] | None = None
) -> Table:
    columns = (
        Column("name", label, "text" if words else "path"),
        Column("files", "Files", "count"),
        Column("read", "Read", "count"),
        Column("not_read", "Not read", "count"),
        Column("identifiers", "With identifiers", "count"),
        Column("referred", "Referred", "count"),
        Column("phi", "PHI", "count"),
        Column("not_phi", "Not PHI", "count"),
        Column("people", "People", "count"),
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
        Column("file", "No.", "id"),
        Column("path", "File", "path"),
        Column("findings", "Findings, by type"),
        Column("characteristics", "Characteristics", shown=False),
        Column("case", "Why referred"),
        Column("people", "People", "count"),
        Column("health", "Health", "number"),
        Column("detectors", "Detectors"),
        Column("risk", "Risk", "number"),
        Column("verdict", "Verdict", "verdict"),
    )
    labels = {bit.value: label for bit, (label, _) in CHARACTERISTICS.items()}
    kinds = {str(kind): label for kind, label in ENTITY_TYPES.items()}
    rows = [
        (
            str(f.file),
            f.path,
            ", ".join(f"{kinds[name]} {n}" for name, n in _by_count(f.findings)),
            ", ".join(labels[bit] for bit in f.bits),
            plain(f.case),
            f.people,
            f.health_score,
            ", ".join(f.detectors),
            f.risk,
            f.verdict,
        )
        for f in data.top_files
    ]
    return Table("top", "Referred files of the highest risk, reasons masked", columns, tuple(rows), cap=25)


def _reviewers(data: ReportData) -> Table:
    columns = (
        Column("reviewer", "Who"),
        Column("phi", "PHI", "count"),
        Column("not_phi", "Not PHI", "count"),
        Column("unsure", "Unsure", "count"),
        Column("superseded", "Superseded", "count"),
        Column("first", "First decision", "time"),
        Column("last", "Last decision", "time"),
    )
    rows = [(r.reviewer, r.phi, r.not_phi, r.unsure, r.superseded, r.first, r.last) for r in data.reviewers]
    return Table("reviewers", "Standing decisions by person", columns, tuple(rows))


def _decisions(data: ReportData) -> Table:
    columns = (
        Column("decision", "No.", "id"),
        Column("decided", "When", "time"),
        Column("reviewer", "Who"),
        Column("path", "File", "path"),
        Column("verdict", "Verdict", "verdict"),
        Column("standing", "Counts now"),
    )
    rows = [(str(d.decision), d.decided, d.reviewer, d.path, d.verdict, _standing(d)) for d in data.decisions]
    return Table("decisions", "Every decision, the newest first", columns, tuple(rows), cap=30)


def _standing(made: DecisionRow) -> str:
    if made.standing:
        return "yes"
    return "taken back" if made.undone else "superseded"


def _people(data: ReportData) -> Table:
    columns = (Column("people", "People in the file"), Column("files", "Referred files", "count"))
    return Table(
        "people", "Referred files by people in each", columns, tuple(data.people.bands.items()), bar="files"
    )


def _topics(data: ReportData) -> Table:
    columns = (
        Column("concept", "Health concept"),
        Column("files", "Referred files", "count"),
        Column("phi_files", "Confirmed files", "count"),
        Column("hits", "Occurrences", "count"),
    )
    rows = [(t.concept, t.files, t.phi_files, t.hits) for t in data.topics]
    return Table("topics", "Health concepts in referred files", columns, tuple(rows), bar="files", cap=30)


def _by_count(counts: Mapping[str, int]) -> Iterable[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
