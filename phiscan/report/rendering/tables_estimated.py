"""The tables of estimates: quality of the screen, and missed PHI."""

from __future__ import annotations

from collections.abc import Sequence

from phiscan.language import lazy_gettext as _
from phiscan.language import lazy_join
from phiscan.report.data.estimates import Estimate
from phiscan.report.data.missed import Capture, History
from phiscan.report.data.report import Characteristic, ReportData
from phiscan.report.rendering.table import Cell, Column, Table
from phiscan.report.sections.missed import meaning
from phiscan.report.words import plain


def screening(name: str, caption: str, found: Sequence[Characteristic]) -> Table:
    """Return TDP, FRP and PPV of several screens."""
    columns = (
        Column("name", _("Screen")),
        Column("positive", _("Files with it"), "count"),
        Column("phi", _("PHI"), "count"),
        Column("not_phi", _("Not PHI"), "count"),
        Column("unverified", _("Not verified"), "count"),
        Column("tdp", _("TDP"), "figure"),
        Column("final_tdp", _("TDP will be"), "share"),
        Column("frp", _("FRP"), "figure"),
        Column("final_frp", _("FRP will be"), "share"),
        Column("ppv", _("PPV"), "figure"),
    )
    rows = [
        (
            c.label,
            c.positive,
            c.phi,
            c.not_phi,
            c.unverified,
            c.tdp,
            _range(c.final_tdp.low, c.final_tdp.high),
            c.frp,
            _range(c.final_frp.low, c.final_frp.high),
            c.ppv,
        )
        for c in found
    ]
    return Table(name, caption, columns, tuple(rows))


def _range(low: float | None, high: float | None) -> Cell:
    return None if low is None or high is None else (low, high)


def relative(data: ReportData) -> Table:
    """Return every characteristic against the reference."""
    columns = (
        Column("name", _("Characteristic")),
        Column("hipaa", _("HIPAA identifier")),
        Column("coverage", _("Share of files with it"), "figure"),
        Column("relative_tdp", _("Relative TDP"), "ratio"),
        Column("relative_frp", _("Relative FRP"), "ratio"),
    )
    rows = [
        (c.label, f"({c.hipaa})" if c.hipaa else _("not one"), c.coverage, c.relative_tdp, c.relative_frp)
        for c in data.characteristics
    ]
    return Table("relative", _("The characteristics against the first of them"), columns, tuple(rows))


def histories(data: ReportData) -> Table:
    """Return the capture histories of the detectors."""
    caption = _("Detectors' positives and reviewers' verdicts")
    return _histories("histories", caption, data.capture.detectors, data.histories)


def second_histories(data: ReportData) -> Table:
    """Return the capture histories of the random sample, the second family among them."""
    family = data.second_family
    caption = _(
        "The random sample: positives of the detectors and the second family, and reviewers' verdicts"
    )
    return _histories("second_histories", caption, family.capture.detectors, family.histories)


def _histories(name: str, caption: str, names: Sequence[str], found: Sequence[History]) -> Table:
    columns = (
        *(Column(name, plain(name).capitalize(), "flag") for name in names),
        Column("files", _("Files"), "count"),
        Column("referred", _("Referred"), "count"),
        Column("phi", _("PHI"), "count"),
        Column("not_phi", _("Not PHI"), "count"),
        Column("unverified", _("Not verified"), "count"),
    )
    rows = [
        (
            *("yes" if h.detectors[name] else "no" for name in names),
            h.files,
            h.referred,
            h.phi,
            h.not_phi,
            h.unverified,
        )
        for h in found
    ]
    return Table(name, caption, columns, tuple(rows))


def sample(data: ReportData) -> Table:
    """Return the random sample of files that were not referred."""
    columns = (
        Column("position", _("Position"), "count"),
        Column("file", _("File number"), "id"),
        Column("path", _("File"), "path"),
        Column("verdict", _("Verdict"), "verdict"),
    )
    rows = [(s.position, str(s.file), s.path, s.verdict) for s in data.elusion_sample]
    caption = _("The random sample of files that were not referred, in the order in which to review it")
    return Table("elusion_sample", caption, columns, tuple(rows), cap=20)


def pairs(data: ReportData) -> Table:
    """Return the estimates of two detectors at a time."""
    return _pairs("pairs", _("Two detectors at a time"), data.capture)


def second_pairs(data: ReportData) -> Table:
    """Return the same on the random sample, the second family among them."""
    return _pairs("second_pairs", _("Two lists at a time, on the random sample"), data.second_family.capture)


def _pairs(name: str, caption: str, capture: Capture) -> Table:
    columns = (
        Column("first", _("First")),
        Column("second", _("Second")),
        Column("both", _("Both"), "count"),
        Column("only_first", _("1st only"), "count"),
        Column("only_second", _("2nd only"), "count"),
        Column("lincoln_petersen_missed", _("Missed, Lincoln-Petersen"), "number"),
        Column("chapman_missed", _("Missed, Chapman"), "number"),
        Column("chapman_total", _("Total PHI, Chapman"), "total"),
        Column("compared", _("Compared"), "count"),
        Column("dependence", _("Nats"), "number"),
        Column("p_value", "p", "number"),
    )
    rows = [
        (
            plain(p.first),
            plain(p.second),
            p.both,
            p.only_first,
            p.only_second,
            p.lincoln_petersen.missed,
            p.chapman.missed,
            p.chapman,
            p.compared,
            p.dependence,
            p.p_value,
        )
        for p in capture.pairs
    ]
    return Table(name, caption, columns, tuple(rows))


def accuracy(data: ReportData) -> Table:
    """Return each detector's confusion matrix under the estimated number of PHI files."""
    columns = (
        Column("name", _("Detector")),
        Column("tp", _("TP"), "count"),
        Column("fp", _("FP"), "count"),
        Column("unverified", _("Not verified"), "count"),
        Column("fn", _("FN, estimated"), "number"),
        Column("tn", _("TN, estimated"), "number"),
        Column("sensitivity", _("Sensitivity"), "share"),
        Column("accuracy", _("Accuracy"), "share"),
        Column("reason", _("What is missing")),
    )
    rows = [
        (plain(d.name), d.tp, d.fp, d.unverified, d.fn, d.tn, d.sensitivity, d.accuracy, d.reason or "")
        for d in data.capture.accuracy
    ]
    return Table("detector_accuracy", _("Each detector, given the estimated total"), columns, tuple(rows))


def features(data: ReportData) -> Table:
    """Return the mutual information of the stored features of each pair of detectors."""
    columns = (
        Column("first", _("First")),
        Column("second", _("Second")),
        Column("compared", _("PHI files"), "count"),
        Column("mean", _("Mean nats"), "number"),
        Column("highest", _("Highest"), "number"),
        Column("pair", _("Between")),
        Column("reason", _("Why not")),
    )
    rows = [
        (
            plain(f.first),
            plain(f.second),
            f.compared,
            f.mean,
            f.highest,
            f"{f.first_feature}, {f.second_feature}" if f.first_feature else "",
            f.reason or "",
        )
        for f in data.capture.features
    ]
    return Table("features", _("Mutual information of the detectors' features"), columns, tuple(rows))


def models(data: ReportData) -> Table:
    """Return the log-linear models, the best by AIC first, refused ones last."""
    columns = (
        Column("model", _("Model"), "path"),
        Column("meaning", _("In words")),
        Column("missed", _("Missed by all"), "number"),
        Column("total", _("Total PHI"), "number"),
        Column("low", _("95% from"), "number"),
        Column("high", _("to"), "number"),
        Column("deviance", _("Deviance"), "number"),
        Column("df", _("df"), "count"),
        Column("aic", _("AIC"), "number"),
        Column("bic", _("BIC"), "number"),
        Column("reason", _("Remark")),
    )
    models = data.capture.models
    rows = []
    for fit in sorted(models.models if models else (), key=lambda f: (f.aic is None, f.aic, f.model)):
        low, high = fit.ci95 or (None, None)
        chosen = [
            name
            for name, best in (
                ("AIC", models and models.selected_aic),
                ("BIC", models and models.selected_bic),
            )
            if best == fit.model
        ]
        remark = fit.reason or (
            _("lowest {criteria}", criteria=lazy_join(_(" and "), chosen)) if chosen else ""
        )
        words = meaning(fit.model, data.capture.detectors)
        rows.append(
            (
                fit.model,
                words,
                fit.missed,
                fit.total,
                low,
                high,
                fit.deviance,
                fit.df,
                fit.aic,
                fit.bic,
                remark,
            )
        )
    return Table("models", _("Log-linear models of all detectors together"), columns, tuple(rows))


def formats(data: ReportData) -> Table:
    """Return capture-recapture within each format."""
    columns = (
        Column("format", _("Format")),
        Column("found", _("Confirmed"), "count"),
        Column("missed", _("Missed by all"), "number"),
        Column("total", _("Total PHI"), "total"),
        Column("reason", _("Remark")),
    )
    rows = [
        (part.name, part.found, part.total.missed, part.total, part.total.reason or "")
        for part in data.capture.formats
    ]
    return Table("capture_formats", _("Capture-recapture within each format"), columns, tuple(rows), cap=30)


def agreement(data: ReportData) -> Table:
    """Return the agreement of each pair of reviewers with common files."""
    columns = (
        Column("first", _("First")),
        Column("second", _("Second")),
        Column("files", _("Both decided"), "count"),
        Column("same", _("Same verdict"), "count"),
        Column("both_phi", _("Both PHI"), "count"),
        Column("first_phi", _("1st PHI"), "count"),
        Column("second_phi", _("2nd PHI"), "count"),
        Column("kappa", _("Cohen's kappa"), "ratio"),
        Column("positive_agreement", _("Positive agreement"), "figure"),
        Column("pabak", _("PABAK"), "ratio"),
    )
    rows = [
        (
            p.first,
            p.second,
            p.files,
            p.same,
            p.both_phi,
            p.first_phi,
            p.second_phi,
            p.kappa,
            p.positive_agreement,
            p.pabak,
        )
        for p in data.double_review.pairs
    ]
    return Table("agreement", _("People who decided the same files"), columns, tuple(rows), cap=30)


def estimates(data: ReportData) -> Table:
    """Return all estimates that the page shows individually."""
    columns = (
        Column("section", _("Section")),
        Column("name", _("Estimate")),
        Column("value", _("Value"), "number"),
        Column("low", _("95% from"), "number"),
        Column("high", _("to"), "number"),
        Column("formula", _("Formula")),
        Column("inputs", _("Inputs")),
        Column("assumption", _("It assumes")),
        Column("source", _("Source")),
        Column("reason", _("Remark")),
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
