"""All tables of the report in the order of the page: HTML shows a beginning, CSV and PDF the same rows.

A column is its key, heading and kind, and the attribute or function that gives its cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import Any, Literal

from phiscan.health.topics import label_of
from phiscan.language import Lazy, lazy_join, lazy_pgettext
from phiscan.language import lazy_gettext as _
from phiscan.metrics.capture_recapture.loglinear import ModelFit
from phiscan.metrics.capture_recapture.two_list import Total
from phiscan.metrics.intervals import Figure
from phiscan.model import EntityType
from phiscan.report.gather import ReportData
from phiscan.report.sections.missed import meaning
from phiscan.report.sections.screened import Characteristic, Estimate, Final
from phiscan.report.words import (
    CHARACTERISTICS,
    ENTITY_TYPES,
    FORMATS,
    REASONS,
    part_detail,
    plain,
    reader_words,
)

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


def columns(kind: Kind, **labels: str) -> tuple[Column, ...]:
    """Return columns of one kind by key and heading, whose cells are the attributes of these names."""
    return tuple(Column(key, label, kind) for key, label in labels.items())


def plain_columns(**labels: str) -> tuple[Column, ...]:
    """Return columns by key and heading, whose cells are the identifiers in these attributes as words."""

    def words(key: str) -> Callable[[Any], Cell]:
        return lambda one: plain(getattr(one, key))

    return tuple(Column(key, label, of=words(key)) for key, label in labels.items())


def table_of(
    name: str, caption: str, found: Iterable[Any], *, bar: str = "", cap: int = CAP
) -> Callable[..., Table]:
    """Return a function of columns that gives the table of some objects, a row each; a tuple is a row."""

    def made(*shown: Column) -> Table:
        rows = tuple(
            one if isinstance(one, tuple) else tuple(column.cell(one) for column in shown) for one in found
        )
        return Table(name, caption, shown, rows, bar=bar, cap=cap)

    return made


def tables(data: ReportData) -> dict[str, Table]:
    """Return every table of the report by its id, in the order of the page."""
    made = (*_of_the_scan(data), *_of_detectors(data), *_of_what_was_found(data), *_of_the_desk(data))
    return {table.id: table for table in made}


_FILE = Column("path", _("File"), "path")
_NUMBER = Column("file", _("No."), "id")
_PAIR = columns("text", first=_("First"), second=_("Second"))


def _of_the_scan(data: ReportData) -> tuple[Table, ...]:
    coverage, funnel = data.coverage, data.funnel
    steps = (
        (_("Crawled"), funnel.crawled),
        (_("Read"), funnel.read),
        (_("Identifiers present"), funnel.screened_positive),
        (_("Referred to review"), funnel.referred),
        (_("Decided by people"), funnel.reviewed),
        (_("Confirmed as PHI"), funnel.phi),
    )
    part = Column("part", _("Part"), "path", of="locator")
    return (
        table_of(
            "versions",
            _("What the results depend on"),
            [(plain(name), version) for name, version in data.scope.versions.items()],
        )(Column("what", _("What")), Column("version", _("Version or hash"), "path")),
        table_of("outcomes", _("What became of every crawled file"), _outcomes(data))(
            *columns("text", outcome=_("Outcome"), reason=_("Reason")),
            Column("files", _("Files"), "count"),
            Column("meaning", _("What it means")),
        ),
        table_of("unread", _("Files and parts that could not be read"), coverage.unread, cap=40)(
            _FILE, part, *plain_columns(reason=_("Why")), Column("detail", _("Technical detail"))
        ),
        table_of("sampled", _("Long files that samples refer"), coverage.sampled, cap=40)(
            _FILE, part, Column("left_out", _("Left out"), of=lambda u: part_detail(u.detail))
        ),
        table_of("funnel", _("From the share to confirmed PHI"), steps, bar="files")(
            Column("step", _("Step")), Column("files", _("Files"), "count")
        ),
        _screening("screening", _("The whole screen: referred to review"), [data.overall]),
        _screening("characteristics", _("Each characteristic as a separate screen"), data.characteristics),
        table_of("relative", _("The characteristics against the first of them"), data.characteristics)(
            Column("name", _("Characteristic"), of="label"),
            Column("hipaa", _("HIPAA identifier"), of=lambda c: f"({c.hipaa})" if c.hipaa else _("not one")),
            Column("coverage", _("Share of files with it"), "figure"),
            *columns("ratio", relative_tdp=_("Relative TDP"), relative_frp=_("Relative FRP")),
        ),
    )


def _outcomes(data: ReportData) -> Iterable[tuple[Cell, ...]]:
    coverage = data.coverage
    yield plain("screened"), "", coverage.screened, _("read and screened in this scan")
    kept = _("read in an earlier scan, not changed since; its result is kept")
    yield plain("unchanged"), "", coverage.unchanged, kept
    for outcome, counts in (("skipped", coverage.skipped), ("failed", coverage.failed)):
        for name, n in _by_count(counts):
            yield plain(outcome), plain(name), n, REASONS.get(name, "")
        if not counts:
            yield plain(outcome), "", 0, _("none")


def _screening(name: str, caption: str, found: Sequence[Characteristic]) -> Table:
    return table_of(name, caption, found)(
        Column("name", _("Screen"), of="label"),
        *columns("count", positive=_("Files with it"), phi=_("PHI"), not_phi=_("Not PHI")),
        Column("unverified", _("Not verified"), "count"),
        Column("tdp", _("TDP"), "figure"),
        Column("final_tdp", _("TDP will be"), "share", of=lambda c: _range(c.final_tdp)),
        Column("frp", _("FRP"), "figure"),
        Column("final_frp", _("FRP will be"), "share", of=lambda c: _range(c.final_frp)),
        Column("ppv", _("PPV"), "figure"),
    )


def _range(final: Final) -> Cell:
    return None if final.low is None or final.high is None else (final.low, final.high)


def _of_detectors(data: ReportData) -> tuple[Table, ...]:
    capture = data.capture
    known = capture.models

    def remark(fit: ModelFit) -> str:
        best = {"AIC": known and known.selected_aic, "BIC": known and known.selected_bic}
        chosen = [name for name, model in best.items() if model == fit.model]
        lowest = _("lowest {criteria}", criteria=lazy_join(_(" and "), chosen)) if chosen else ""
        return fit.reason or lowest

    def flag(name: str) -> Callable[[Any], Cell]:
        return lambda history: "yes" if history.detectors[name] else "no"

    flags = [Column(name, plain(name).capitalize(), "flag", of=flag(name)) for name in capture.detectors]
    pair = plain_columns(first=_("First"), second=_("Second"))
    return (
        _screening("detectors", _("Each detector as a separate screen"), data.detectors),
        table_of("histories", _("Detectors' positives and reviewers' verdicts"), data.histories)(
            *flags,
            *columns("count", files=_("Files"), referred=_("Referred"), phi=_("PHI"), not_phi=_("Not PHI")),
            Column("unverified", _("Not verified"), "count"),
        ),
        table_of("pairs", _("Two detectors at a time"), capture.pairs)(
            *pair,
            *columns("count", both=_("Both"), only_first=_("1st only"), only_second=_("2nd only")),
            Column(
                "lincoln_petersen_missed",
                _("Missed, Lincoln-Petersen"),
                "number",
                of="lincoln_petersen.missed",
            ),
            Column("chapman_missed", _("Missed, Chapman"), "number", of="chapman.missed"),
            Column("chapman_total", _("Total PHI, Chapman"), "total", of="chapman"),
            Column("compared", _("Compared"), "count"),
            *columns("number", dependence=_("Nats"), p_value="p"),
        ),
        table_of(
            "models",
            _("Log-linear models of all detectors together"),
            sorted(known.models if known else (), key=lambda f: (f.aic is None, f.aic, f.model)),
        )(
            Column("model", _("Model"), "path"),
            Column("meaning", _("In words"), of=lambda fit: meaning(fit.model, capture.detectors)),
            *columns("number", missed=_("Missed by all"), total=_("Total PHI")),
            Column("low", _("95% from"), "number", of=lambda fit: fit.ci95 and fit.ci95[0]),
            Column("high", _("to"), "number", of=lambda fit: fit.ci95 and fit.ci95[1]),
            Column("deviance", _("Deviance"), "number"),
            Column("df", _("df"), "count"),
            *columns("number", aic=_("AIC"), bic=_("BIC")),
            Column("reason", _("Remark"), of=remark),
        ),
        table_of("detector_accuracy", _("Each detector, given the estimated total"), capture.accuracy)(
            *plain_columns(name=_("Detector")),
            *columns("count", tp=_("TP"), fp=_("FP"), unverified=_("Not verified")),
            *columns("number", fn=_("FN, estimated"), tn=_("TN, estimated")),
            *columns("share", sensitivity=_("Sensitivity"), accuracy=_("Accuracy")),
            Column("reason", _("What is missing"), of=lambda d: d.reason or ""),
        ),
        table_of("features", _("Mutual information of the detectors' features"), capture.features)(
            *pair,
            Column("compared", _("PHI files"), "count"),
            *columns("number", mean=_("Mean nats"), highest=_("Highest")),
            Column(
                "pair",
                _("Between"),
                of=lambda f: f"{f.first_feature}, {f.second_feature}" if f.first_feature else "",
            ),
            Column("reason", _("Why not"), of=lambda f: f.reason or ""),
        ),
        table_of("capture_formats", _("Capture-recapture within each format"), capture.formats, cap=30)(
            Column("format", _("Format"), of="name"),
            Column("found", _("Confirmed"), "count"),
            Column("missed", _("Missed by all"), "number", of="total.missed"),
            Column("total", _("Total PHI"), "total"),
            Column("reason", _("Remark"), of=lambda part: part.total.reason or ""),
        ),
    )


_COUNTS = (
    *columns("count", findings=_("Findings"), distinct=_("Distinct values")),
    *columns("count", files=_("Referred files"), phi_files=_("Confirmed files")),
)


def _of_what_was_found(data: ReportData) -> tuple[Table, ...]:
    groups = partial(table_of, bar="referred", cap=30)
    return (
        table_of(
            "findings", _("Findings in referred files, by identifier"), data.findings_by_type, bar="findings"
        )(Column("type", _("Identifier"), of="label"), *_COUNTS),
        table_of(
            "type_levels",
            _("Findings in referred files, from all identifiers over those of HIPAA to the fine types"),
            data.type_levels.counts,
            bar="findings",
        )(
            Column("level", _("Level"), "id"),
            Column("label", _("Identifier")),
            Column("under", _("Under"), of="parent"),
            *_COUNTS,
        ),
        groups("formats", _("By format, as found in the content"), data.formats)(
            Column("name", _("Format"), of=lambda g: FORMATS.get(g.name, g.name)), *_GROUP
        ),
        groups("folders", _("By folder"), data.folders)(Column("name", _("Folder"), "path"), *_GROUP),
        table_of(
            "widest_folders",
            _("Folders whose files that are PHI or may be most people can read"),
            data.widest_folders,
        )(
            Column("folder", _("Folder"), "path"),
            *columns("count", files=_("Files"), low=_("At least"), high=_("At most")),
            Column("readers", _("People who can read at least one of them"), of=reader_words),
        ),
        table_of("top", _("Referred files of the highest risk, reasons masked"), data.top_files, cap=25)(
            _NUMBER,
            _FILE,
            Column("findings", _("Findings, by type"), of=lambda f: _counted(f.findings)),
            Column(
                "characteristics",
                _("Characteristics"),
                of=lambda f: lazy_join(", ", [_BITS[one] for one in f.bits]),
                shown=False,
            ),
            *plain_columns(case=_("Why referred")),
            Column("people", _("People"), "count"),
            Column("health", _("Health"), "number", of="health_score"),
            Column("detectors", _("Detectors"), of=lambda f: lazy_join(", ", map(plain, f.detectors))),
            Column("risk", _("Risk"), "number"),
            Column("verdict", _("Verdict"), "verdict"),
        ),
        table_of("agreement", _("People who decided the same files"), data.double_review.pairs, cap=30)(
            *_PAIR,
            *columns("count", files=_("Both decided"), same=_("Same verdict"), both_phi=_("Both PHI")),
            *columns("count", first_phi=_("1st PHI"), second_phi=_("2nd PHI")),
            Column("kappa", _("Cohen's kappa"), "ratio"),
            Column("positive_agreement", _("Positive agreement"), "figure"),
            Column("pabak", _("PABAK"), "ratio"),
        ),
        table_of("estimates", _("Every estimate with its formula and inputs"), _estimates(data))(
            *columns("text", section=_("Section"), name=_("Estimate")),
            *columns("number", value=_("Value"), low=_("95% from"), high=_("to")),
            *columns("text", formula=_("Formula"), inputs=_("Inputs"), assumption=_("It assumes")),
            *columns("text", source=_("Source"), reason=_("Remark")),
        ),
        table_of("reviewers", _("Standing decisions by person"), data.reviewers)(
            Column("reviewer", _("Who")),
            *columns("count", phi=_("PHI"), not_phi=_("Not PHI"), unsure=_("Unsure")),
            Column("superseded", _("Superseded"), "count"),
            *columns("time", first=_("First decision"), last=_("Last decision")),
        ),
        table_of("decisions", _("Every decision, the newest first"), data.decisions, cap=30)(
            Column("decision", _("No."), "id"),
            Column("decided", _("When"), "time"),
            Column("reviewer", _("Who")),
            _FILE,
            Column("verdict", _("Verdict"), "verdict"),
            Column(
                "standing",
                _("Counts now"),
                of=lambda d: _("yes") if d.standing else _("taken back") if d.undone else _("superseded"),
            ),
        ),
        table_of("people", _("Referred files by people in each"), data.people.bands.items(), bar="files")(
            Column("people", _("People in the file")), Column("files", _("Referred files"), "count")
        ),
        table_of("topics", _("Health concepts in referred files"), data.topics, bar="files", cap=30)(
            Column("concept", _("Identifier of the concept"), shown=False),
            Column("label", _("Health concept"), of=lambda t: Lazy(label_of, t.concept)),
            *columns("count", files=_("Referred files"), phi_files=_("Confirmed files")),
            Column("hits", _("Occurrences"), "count"),
        ),
    )


_GROUP = (
    Column("files", _("Files"), "count", of="crawled"),
    *columns("count", read=_("Read"), not_read=_("Not read")),
    Column("identifiers", _("With identifiers"), "count", of="screened_positive"),
    *columns("count", referred=_("Referred"), phi=_("PHI"), not_phi=_("Not PHI"), people=_("People")),
)
_BITS = {bit.value: label for bit, (label, _hipaa) in CHARACTERISTICS.items()}


def _counted(found: Mapping[str, int]) -> str:
    named = [(ENTITY_TYPES[EntityType(name)], str(n)) for name, n in _by_count(found)]
    return lazy_join(", ", [lazy_join(" ", one) for one in named])


def _by_count(counts: Mapping[str, int]) -> Iterable[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _estimates(data: ReportData) -> Iterable[tuple[Cell, ...]]:
    groups: list[tuple[str, Sequence[Estimate]]] = [
        (_("Corrected for verification"), data.verification.estimates),
        (_("Capture-recapture"), data.capture.totals),
        *((r.label, r.estimates) for r in data.rankings),
        (_("Agreement"), [data.double_review.alpha]),
    ]
    for section, e in ((section, e) for section, found in groups for e in found):
        inputs = lazy_join("; ", [lazy_join(": ", [name, repr(value)]) for name, value in e.inputs.items()])
        low, high = e.ci95 or (None, None)
        yield section, e.name, e.value, low, high, e.formula, inputs, e.assumption, e.source, e.reason or ""


def _scores(**labels: str) -> tuple[Column, ...]:
    rates = columns("number", precision=_("Precision"), recall=_("Recall"), f1="F1")
    return (*columns("count", **labels), *rates)


def _of_the_desk(data: ReportData) -> tuple[Table, ...]:
    change, spans, oversight = data.change, data.span_scores, data.oversight
    levels = {None: _("all levels"), 0: _("0, chapter"), 1: _("1, any health topic")}
    status = {True: _("has that hash"), False: _("has another hash"), None: _("was purged by policy")}
    return (
        table_of(
            "change",
            _("Against the previous complete scan of the same folders"),
            _changes(data) if change.previous is not None else (),
        )(
            Column("what", _("Files")),
            Column("files", _("Number"), "count"),
            Column("meaning", _("What it means")),
        ),
        table_of(
            "changed_files",
            _("Files newly referred, no longer referred, moved or deleted"),
            change.files,
            cap=30,
        )(
            Column("change", lazy_pgettext("noun", "Change")),
            _NUMBER,
            *columns("path", path=_("File"), now_at=_("Now at")),
        ),
        table_of(
            "span_scores",
            _("The machine's spans against the reviewers'"),
            [spans.overall, *spans.by_type] if spans.overall else [],
        )(
            Column("type", _("Identifier"), of="label"),
            *_scores(
                correct=_("Correct"),
                substitution=_("Substitution"),
                insertion=_("Insertion"),
                deletion=_("Deletion"),
            ),
        ),
        table_of("span_schemes", _("The same spans, counted in four ways"), spans.schemes)(
            *plain_columns(scheme=_("Way of counting")),
            *_scores(
                correct=_("Correct"),
                incorrect=_("Incorrect"),
                partial=_("Partial"),
                missed=_("Missed"),
                spurious=_("Spurious"),
            ),
        ),
        table_of("topic_scores", _("The machine's topics against the reviewers'"), data.topic_scores.scores)(
            Column("level", _("Level"), of=lambda s: levels[s.level]),
            Column("view", _("Labels")),
            *_scores(tp=_("Both"), fp=_("Machine only"), fn=_("Reviewer only")),
        ),
        table_of(
            "blind_agreement",
            _("First and blind second verdicts, by person"),
            data.blind_review.pairs,
            cap=30,
        )(
            *columns("text", first=_("First"), second=_("Blind second")),
            *columns("count", files=_("Files"), same=_("Same verdict"), both_phi=_("Both PHI")),
            *columns("ratio", kappa=_("Kappa"), positive_agreement=_("Positive agreement"), pabak=_("PABAK")),
        ),
        table_of("revealers", _("Requests to see texts"), oversight.revealers)(
            Column("who", _("Who"), of="revealed_by"),
            *columns("count", reveals=_("Reveals"), files=_("Files")),
            *columns("time", first=_("First"), last=_("Last")),
        ),
        table_of("reveals", _("Every reveal, the newest first"), oversight.reveals, cap=30)(
            Column("reveal", _("No."), "id"),
            Column("when", _("When"), "time", of="revealed"),
            Column("who", _("Who"), of="revealed_by"),
            Column("file", _("File no."), "id"),
            _FILE,
            Column("purpose", _("What for")),
        ),
        table_of("suppressions", _("Every suppression, the newest first"), oversight.suppressions, cap=30)(
            Column("suppression", _("No."), "id"),
            Column(
                "what",
                _("Passes over"),
                of=lambda s: _("rule {rule}", rule=s.rule) if s.rule else _("one value"),
            ),
            Column("where", _("Where"), "path"),
            *plain_columns(status=_("Status")),
            *columns("count", hid_when_made=_("Hid when made"), hides_now=_("Hides now")),
            Column("made_by", _("Made by")),
            Column("made", _("Made"), "time"),
            Column(
                "approved_by",
                _("Approved by"),
                of=lambda s: (
                    s.approved_by or (_("waits for a lead") if s.needs_approval else _("not needed"))
                ),
            ),
            Column("until", _("Ends"), "time"),
            Column("lifted_by", _("Lifted by")),
        ),
        table_of("sign_offs", _("Who has reviewed the audit log"), oversight.sign_offs, cap=30)(
            Column("reviewer", _("Who")),
            Column("at", _("When"), "time"),
            *columns("count", entries=_("Up to entry"), since=_("Entries since")),
            Column("holds", _("That entry"), of=lambda s: status[s.holds]),
            Column("head", _("Hash that was signed"), "path"),
        ),
        table_of("incidents", _("Incidents with files of this scan, the newest first"), data.incidents)(
            Column("incident", _("No."), "id", of="number"),
            *plain_columns(state=_("State")),
            Column("opened", _("Opened"), "time"),
            *columns("count", files=_("Files"), here=_("Files of this scan")),
            *columns(
                "count",
                files_opened=_("Opened, by access logs"),
                accounts=_("Different accounts"),
                files_not_covered=_("No log covers"),
            ),
        ),
    )


def _changes(data: ReportData) -> tuple[tuple[str, int | None, str], ...]:
    change = data.change
    return (
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
