"""All tables of the report in the order of the page: HTML shows a beginning, CSV and PDF the same rows.

A column is its key, heading and kind, and the attribute or function that gives its cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any, Literal

from phiscan.health.topics import label_of
from phiscan.language import Lazy, lazy_join, lazy_pgettext
from phiscan.language import lazy_gettext as _
from phiscan.metrics.capture_recapture.loglinear import ModelFit
from phiscan.metrics.capture_recapture.two_list import Total
from phiscan.metrics.intervals import Figure
from phiscan.model import EntityType
from phiscan.report.data.desk import SpanScore
from phiscan.report.data.estimates import Estimate, History
from phiscan.report.data.report import Characteristic, DecisionRow, Group, ReportData, TopFile
from phiscan.report.sections.missed import meaning
from phiscan.report.words import CHARACTERISTICS, ENTITY_TYPES, FORMATS, REASONS, part_detail, plain

Kind = Literal[
    "text", "path", "count", "share", "number", "figure", "ratio", "total", "time", "verdict", "flag", "id"
]
Cell = str | int | float | datetime | Figure | Total | tuple[float, float] | None

CAP = 100  # rows shown in HTML and PDF; CSV contains all


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its key in CSV, its heading, and the format of its cells; ``shown``: also on the page.

    ``of``: the cell of an object, a function or the name of an attribute; "" = the attribute named ``key``.
    """

    key: str
    label: str
    kind: Kind = "text"
    of: str | Callable[[Any], Cell] = ""
    shown: bool = True

    def cell(self, one: Any) -> Cell:
        """Return the cell of an object."""
        value: Cell = self.of(one) if callable(self.of) else attrgetter(self.of or self.key)(one)
        return str(value) if self.kind == "id" else value


@dataclass(frozen=True, slots=True)
class Table:
    """A table with all its rows; ``bar`` names a count column that HTML also draws."""

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    bar: str = ""
    cap: int = CAP


def _columns(kind: Kind, **labels: str) -> tuple[Column, ...]:
    """Return columns of one kind by key and heading, whose cells are the attributes of these names."""
    return tuple(Column(key, label, kind) for key, label in labels.items())


def table_of(
    name: str,
    caption: str,
    columns: tuple[Column, ...],
    found: Iterable[Any],
    *,
    bar: str = "",
    cap: int = CAP,
) -> Table:
    """Return the table of some objects, a row each."""
    rows = tuple(tuple(column.cell(one) for column in columns) for one in found)
    return Table(name, caption, columns, rows, bar=bar, cap=cap)


def tables(data: ReportData) -> dict[str, Table]:
    """Return every table of the report by its id, in the order of the page."""
    made = (
        _versions(data),
        _outcomes(data),
        _unread(data),
        _sampled(data),
        _funnel(data),
        _screening("screening", _("The whole screen: referred to review"), [data.overall]),
        _screening("characteristics", _("Each characteristic as a separate screen"), data.characteristics),
        _relative(data),
        _screening("detectors", _("Each detector as a separate screen"), data.detectors),
        _histories(data),
        _pairs(data),
        _models(data),
        _accuracy(data),
        _features(data),
        _capture_formats(data),
        _types(data),
        _type_levels(data),
        _groups("formats", _("By format, as found in the content"), _("Format"), data.formats, FORMATS),
        _groups("folders", _("By folder"), _("Folder"), data.folders),
        _top(data),
        _agreement(data),
        _estimates(data),
        _reviewers(data),
        _decisions(data),
        _people(data),
        _topics(data),
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
    return {table.id: table for table in made}


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
        *_columns("path", path=_("File"), now_at=_("Now at")),
    )
    caption = _("Files newly referred, no longer referred, moved or deleted")
    return table_of("changed_files", caption, columns, data.change.files, cap=30)


_RATES = (*_columns("number", precision=_("Precision"), recall=_("Recall"), f1="F1"),)


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
        *_columns("count", tp=_("Both"), fp=_("Machine only"), fn=_("Reviewer only")),
        *_RATES,
    )
    names = {None: _("all levels"), 0: _("0, chapter"), 1: _("1, any health topic")}
    return table_of(
        "topic_scores", _("The machine's topics against the reviewers'"), columns, data.topic_scores.scores
    )


def _blind_pairs(data: ReportData) -> Table:
    columns = (
        *_columns("text", first=_("First"), second=_("Blind second")),
        *_columns("count", files=_("Files"), same=_("Same verdict"), both_phi=_("Both PHI")),
        *_columns("ratio", kappa=_("Kappa"), positive_agreement=_("Positive agreement"), pabak=_("PABAK")),
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
        *_columns("count", reveals=_("Reveals"), files=_("Files")),
        *_columns("time", first=_("First"), last=_("Last")),
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
        *_columns("count", hid_when_made=_("Hid when made"), hides_now=_("Hides now")),
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
        *_columns("count", entries=_("Up to entry"), since=_("Entries since")),
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
        *_columns("count", files=_("Files"), here=_("Files of this scan")),
    )
    return table_of(
        "incidents", _("Incidents with files of this scan, the newest first"), columns, data.incidents
    )


def _counted(types: Mapping[str, int]) -> str:
    return lazy_join(
        ", ", [lazy_join(" ", [ENTITY_TYPES[EntityType(name)], str(n)]) for name, n in types.items()]
    )


def _versions(data: ReportData) -> Table:
    columns = (Column("what", _("What")), Column("version", _("Version or hash"), "path"))
    rows = [(plain(name), version) for name, version in data.scope.versions.items()]
    return Table("versions", _("What the results depend on"), columns, tuple(rows))


def _outcomes(data: ReportData) -> Table:
    coverage = data.coverage
    columns = (
        *_columns("text", outcome=_("Outcome"), reason=_("Reason")),
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
        *_columns("count", findings=_("Findings"), distinct=_("Distinct values")),
        *_columns("count", files=_("Referred files"), phi_files=_("Confirmed files")),
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
        *_columns("count", findings=_("Findings"), distinct=_("Distinct values")),
        *_columns("count", files=_("Referred files"), phi_files=_("Confirmed files")),
    )
    caption = _("Findings in referred files, from all identifiers over those of HIPAA to the fine types")
    return table_of("type_levels", caption, columns, data.type_levels.counts, bar="findings")


def _groups(
    name: str, caption: str, label: str, groups: Sequence[Group], words: Mapping[str, str] | None = None
) -> Table:
    columns = (
        Column("name", label, "text" if words else "path", of=lambda g: (words or {}).get(g.name, g.name)),
        Column("files", _("Files"), "count", of="crawled"),
        *_columns("count", read=_("Read"), not_read=_("Not read")),
        Column("identifiers", _("With identifiers"), "count", of="screened_positive"),
        *_columns("count", referred=_("Referred"), phi=_("PHI"), not_phi=_("Not PHI"), people=_("People")),
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
        *_columns("count", phi=_("PHI"), not_phi=_("Not PHI"), unsure=_("Unsure")),
        Column("superseded", _("Superseded"), "count"),
        *_columns("time", first=_("First decision"), last=_("Last decision")),
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
        *_columns("count", files=_("Referred files"), phi_files=_("Confirmed files")),
        Column("hits", _("Occurrences"), "count"),
    )
    return table_of(
        "topics", _("Health concepts in referred files"), columns, data.topics, bar="files", cap=30
    )


def _by_count(counts: Mapping[str, int]) -> Iterable[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _screening(name: str, caption: str, found: Sequence[Characteristic]) -> Table:
    columns = (
        Column("name", _("Screen"), of="label"),
        *_columns("count", positive=_("Files with it"), phi=_("PHI"), not_phi=_("Not PHI")),
        Column("unverified", _("Not verified"), "count"),
        Column("tdp", _("TDP"), "figure"),
        Column(
            "final_tdp", _("TDP will be"), "share", of=lambda c: _range(c.final_tdp.low, c.final_tdp.high)
        ),
        Column("frp", _("FRP"), "figure"),
        Column(
            "final_frp", _("FRP will be"), "share", of=lambda c: _range(c.final_frp.low, c.final_frp.high)
        ),
        Column("ppv", _("PPV"), "figure"),
    )
    return table_of(name, caption, columns, found)


def _range(low: float | None, high: float | None) -> Cell:
    return None if low is None or high is None else (low, high)


def _relative(data: ReportData) -> Table:
    columns = (
        Column("name", _("Characteristic"), of="label"),
        Column("hipaa", _("HIPAA identifier"), of=lambda c: f"({c.hipaa})" if c.hipaa else _("not one")),
        Column("coverage", _("Share of files with it"), "figure"),
        *_columns("ratio", relative_tdp=_("Relative TDP"), relative_frp=_("Relative FRP")),
    )
    return table_of(
        "relative", _("The characteristics against the first of them"), columns, data.characteristics
    )


def _histories(data: ReportData) -> Table:
    columns = (
        *(Column(name, plain(name).capitalize(), "flag", of=_flag(name)) for name in data.capture.detectors),
        *_columns("count", files=_("Files"), referred=_("Referred"), phi=_("PHI"), not_phi=_("Not PHI")),
        Column("unverified", _("Not verified"), "count"),
    )
    caption = _("Detectors' positives and reviewers' verdicts")
    return table_of("histories", caption, columns, data.histories)


def _flag(name: str) -> Callable[[History], Cell]:
    return lambda history: "yes" if history.detectors[name] else "no"


def _pairs(data: ReportData) -> Table:
    columns = (
        Column("first", _("First"), of=lambda p: plain(p.first)),
        Column("second", _("Second"), of=lambda p: plain(p.second)),
        *_columns("count", both=_("Both"), only_first=_("1st only"), only_second=_("2nd only")),
        Column(
            "lincoln_petersen_missed", _("Missed, Lincoln-Petersen"), "number", of="lincoln_petersen.missed"
        ),
        Column("chapman_missed", _("Missed, Chapman"), "number", of="chapman.missed"),
        Column("chapman_total", _("Total PHI, Chapman"), "total", of="chapman"),
        Column("compared", _("Compared"), "count"),
        *_columns("number", dependence=_("Nats"), p_value="p"),
    )
    return table_of("pairs", _("Two detectors at a time"), columns, data.capture.pairs)


def _accuracy(data: ReportData) -> Table:
    columns = (
        Column("name", _("Detector"), of=lambda d: plain(d.name)),
        *_columns("count", tp=_("TP"), fp=_("FP"), unverified=_("Not verified")),
        *_columns("number", fn=_("FN, estimated"), tn=_("TN, estimated")),
        *_columns("share", sensitivity=_("Sensitivity"), accuracy=_("Accuracy")),
        Column("reason", _("What is missing"), of=lambda d: d.reason or ""),
    )
    return table_of(
        "detector_accuracy", _("Each detector, given the estimated total"), columns, data.capture.accuracy
    )


def _features(data: ReportData) -> Table:
    columns = (
        Column("first", _("First"), of=lambda f: plain(f.first)),
        Column("second", _("Second"), of=lambda f: plain(f.second)),
        Column("compared", _("PHI files"), "count"),
        *_columns("number", mean=_("Mean nats"), highest=_("Highest")),
        Column(
            "pair",
            _("Between"),
            of=lambda f: f"{f.first_feature}, {f.second_feature}" if f.first_feature else "",
        ),
        Column("reason", _("Why not"), of=lambda f: f.reason or ""),
    )
    return table_of(
        "features", _("Mutual information of the detectors' features"), columns, data.capture.features
    )


def _models(data: ReportData) -> Table:
    known = data.capture.models

    def remark(fit: ModelFit) -> str:
        best = {"AIC": known and known.selected_aic, "BIC": known and known.selected_bic}
        chosen = [name for name, model in best.items() if model == fit.model]
        return fit.reason or (
            _("lowest {criteria}", criteria=lazy_join(_(" and "), chosen)) if chosen else ""
        )

    columns = (
        Column("model", _("Model"), "path"),
        Column("meaning", _("In words"), of=lambda fit: meaning(fit.model, data.capture.detectors)),
        *_columns("number", missed=_("Missed by all"), total=_("Total PHI")),
        Column("low", _("95% from"), "number", of=lambda fit: fit.ci95 and fit.ci95[0]),
        Column("high", _("to"), "number", of=lambda fit: fit.ci95 and fit.ci95[1]),
        Column("deviance", _("Deviance"), "number"),
        Column("df", _("df"), "count"),
        *_columns("number", aic=_("AIC"), bic=_("BIC")),
        Column("reason", _("Remark"), of=remark),
    )
    found = sorted(known.models if known else (), key=lambda f: (f.aic is None, f.aic, f.model))
    return table_of("models", _("Log-linear models of all detectors together"), columns, found)


def _capture_formats(data: ReportData) -> Table:
    columns = (
        Column("format", _("Format"), of="name"),
        Column("found", _("Confirmed"), "count"),
        Column("missed", _("Missed by all"), "number", of="total.missed"),
        Column("total", _("Total PHI"), "total"),
        Column("reason", _("Remark"), of=lambda part: part.total.reason or ""),
    )
    return table_of(
        "capture_formats", _("Capture-recapture within each format"), columns, data.capture.formats, cap=30
    )


def _agreement(data: ReportData) -> Table:
    columns = (
        *_columns("text", first=_("First"), second=_("Second")),
        *_columns("count", files=_("Both decided"), same=_("Same verdict"), both_phi=_("Both PHI")),
        *_columns("count", first_phi=_("1st PHI"), second_phi=_("2nd PHI")),
        Column("kappa", _("Cohen's kappa"), "ratio"),
        Column("positive_agreement", _("Positive agreement"), "figure"),
        Column("pabak", _("PABAK"), "ratio"),
    )
    return table_of(
        "agreement", _("People who decided the same files"), columns, data.double_review.pairs, cap=30
    )


def _estimates(data: ReportData) -> Table:
    columns = (
        *_columns("text", section=_("Section"), name=_("Estimate")),
        *_columns("number", value=_("Value"), low=_("95% from"), high=_("to")),
        *_columns("text", formula=_("Formula"), inputs=_("Inputs"), assumption=_("It assumes")),
        *_columns("text", source=_("Source"), reason=_("Remark")),
    )
    groups: list[tuple[str, Sequence[Estimate]]] = [
        (_("Corrected for verification"), data.verification.estimates),
        (_("Capture-recapture"), data.capture.totals),
        *((r.label, r.estimates) for r in data.rankings),
        (_("Agreement"), [data.double_review.alpha]),
    ]
    rows = [
        (
            section,
            e.name,
            e.value,
            *(e.ci95 or (None, None)),
            e.formula,
            lazy_join("; ", [lazy_join(": ", [name, repr(value)]) for name, value in e.inputs.items()]),
            e.assumption,
            e.source,
            e.reason or "",
        )
        for section, found in groups
        for e in found
    ]
    return Table("estimates", _("Every estimate with its formula and inputs"), columns, tuple(rows))
