"""The tables of estimates: quality of the screen, and missed PHI."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from phiscan.language import lazy_gettext as _
from phiscan.language import lazy_join
from phiscan.metrics.capture_recapture.loglinear import ModelFit
from phiscan.report.data.estimates import Estimate, History
from phiscan.report.data.report import Characteristic, ReportData
from phiscan.report.rendering.table import Cell, Column, Table, table_of
from phiscan.report.sections.missed import meaning
from phiscan.report.words import plain


def screening(name: str, caption: str, found: Sequence[Characteristic]) -> Table:
    """Return TDP, FRP and PPV of several screens."""
    columns = (
        Column("name", _("Screen"), of="label"),
        Column("positive", _("Files with it"), "count"),
        Column("phi", _("PHI"), "count"),
        Column("not_phi", _("Not PHI"), "count"),
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


def relative(data: ReportData) -> Table:
    """Return every characteristic against the reference."""
    columns = (
        Column("name", _("Characteristic"), of="label"),
        Column("hipaa", _("HIPAA identifier"), of=lambda c: f"({c.hipaa})" if c.hipaa else _("not one")),
        Column("coverage", _("Share of files with it"), "figure"),
        Column("relative_tdp", _("Relative TDP"), "ratio"),
        Column("relative_frp", _("Relative FRP"), "ratio"),
    )
    return table_of(
        "relative", _("The characteristics against the first of them"), columns, data.characteristics
    )


def histories(data: ReportData) -> Table:
    """Return the capture histories of the detectors."""
    columns = (
        *(Column(name, plain(name).capitalize(), "flag", of=_flag(name)) for name in data.capture.detectors),
        Column("files", _("Files"), "count"),
        Column("referred", _("Referred"), "count"),
        Column("phi", _("PHI"), "count"),
        Column("not_phi", _("Not PHI"), "count"),
        Column("unverified", _("Not verified"), "count"),
    )
    caption = _("Detectors' positives and reviewers' verdicts")
    return table_of("histories", caption, columns, data.histories)


def _flag(name: str) -> Callable[[History], Cell]:
    return lambda history: "yes" if history.detectors[name] else "no"


def pairs(data: ReportData) -> Table:
    """Return the estimates of two detectors at a time."""
    columns = (
        Column("first", _("First"), of=lambda p: plain(p.first)),
        Column("second", _("Second"), of=lambda p: plain(p.second)),
        Column("both", _("Both"), "count"),
        Column("only_first", _("1st only"), "count"),
        Column("only_second", _("2nd only"), "count"),
        Column(
            "lincoln_petersen_missed", _("Missed, Lincoln-Petersen"), "number", of="lincoln_petersen.missed"
        ),
        Column("chapman_missed", _("Missed, Chapman"), "number", of="chapman.missed"),
        Column("chapman_total", _("Total PHI, Chapman"), "total", of="chapman"),
        Column("compared", _("Compared"), "count"),
        Column("dependence", _("Nats"), "number"),
        Column("p_value", "p", "number"),
    )
    return table_of("pairs", _("Two detectors at a time"), columns, data.capture.pairs)


def accuracy(data: ReportData) -> Table:
    """Return each detector's confusion matrix under the estimated number of PHI files."""
    columns = (
        Column("name", _("Detector"), of=lambda d: plain(d.name)),
        Column("tp", _("TP"), "count"),
        Column("fp", _("FP"), "count"),
        Column("unverified", _("Not verified"), "count"),
        Column("fn", _("FN, estimated"), "number"),
        Column("tn", _("TN, estimated"), "number"),
        Column("sensitivity", _("Sensitivity"), "share"),
        Column("accuracy", _("Accuracy"), "share"),
        Column("reason", _("What is missing"), of=lambda d: d.reason or ""),
    )
    return table_of(
        "detector_accuracy", _("Each detector, given the estimated total"), columns, data.capture.accuracy
    )


def features(data: ReportData) -> Table:
    """Return the mutual information of the stored features of each pair of detectors."""
    columns = (
        Column("first", _("First"), of=lambda f: plain(f.first)),
        Column("second", _("Second"), of=lambda f: plain(f.second)),
        Column("compared", _("PHI files"), "count"),
        Column("mean", _("Mean nats"), "number"),
        Column("highest", _("Highest"), "number"),
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


def models(data: ReportData) -> Table:
    """Return the log-linear models, the best by AIC first, refused ones last."""
    models = data.capture.models

    def remark(fit: ModelFit) -> str:
        best = {"AIC": models and models.selected_aic, "BIC": models and models.selected_bic}
        chosen = [name for name, model in best.items() if model == fit.model]
        return fit.reason or (
            _("lowest {criteria}", criteria=lazy_join(_(" and "), chosen)) if chosen else ""
        )

    columns = (
        Column("model", _("Model"), "path"),
        Column("meaning", _("In words"), of=lambda fit: meaning(fit.model, data.capture.detectors)),
        Column("missed", _("Missed by all"), "number"),
        Column("total", _("Total PHI"), "number"),
        Column("low", _("95% from"), "number", of=lambda fit: fit.ci95 and fit.ci95[0]),
        Column("high", _("to"), "number", of=lambda fit: fit.ci95 and fit.ci95[1]),
        Column("deviance", _("Deviance"), "number"),
        Column("df", _("df"), "count"),
        Column("aic", _("AIC"), "number"),
        Column("bic", _("BIC"), "number"),
        Column("reason", _("Remark"), of=remark),
    )
    found = sorted(models.models if models else (), key=lambda f: (f.aic is None, f.aic, f.model))
    return table_of("models", _("Log-linear models of all detectors together"), columns, found)


def formats(data: ReportData) -> Table:
    """Return capture-recapture within each format."""
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
    return table_of(
        "agreement", _("People who decided the same files"), columns, data.double_review.pairs, cap=30
    )


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
