"""Screen each share by one characteristic, by the paper's steps, and by phiscan; Tables 1, 3 and 4.

Source: Sokolova & El Emam (2008), Tables 1, 3 and 4, eq. 3 to 5 and 10 to 13.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from papers.screened.collections import PHI, Pool, Share
from phiscan.config import Config
from phiscan.decision import build_decider
from phiscan.health.classifier import build_classifier
from phiscan.metrics.intervals import Figure
from phiscan.metrics.rates import rates
from phiscan.metrics.screening import coverage, screened_table, tdp_frp
from phiscan.model import Document, PiiBit, Referral, Segment
from phiscan.pipeline.engine import Engine
from phiscan.pipeline.examine import examine
from phiscan.screen import build_screener, screen

NEAR = 1  # bits by which a file may differ from its nearest prototype (eq. 5)
SCREENS = (
    "OrganizationName",
    "StreetAddress",
    "step 1: eq. 4",
    "step 1: eq. 5, at most 1 bit",
    "steps 1 and 2: eq. 4 and kNN",
    "steps 1 and 2: eq. 5 and kNN",
    "the product",
)
# Table 4: TDP and FRP of the paper's 123 files from second-hand drives, 75 to 78 of them PHI.
PAPER = {"OrganizationName": (0.577, 0.033), "StreetAddress": (0.610, 0.024)}
_CAPTION = (
    "Tables 1 and 3: PHI and not PHI among the screened positives; in brackets what the screen left, which"
    " nobody verifies on a real share. Table 4: TDP and FRP with 95% intervals (Clopper-Pearson). AUC: eq. 3."
)


@dataclass(frozen=True, slots=True)
class ScreenedShare:
    """One screen on one share: both sides of Table 1, Table 4, and eq. 3."""

    kind: str
    prevalence: str
    screen: str
    n_phi: int  # screened positive, verified as PHI
    n_not_phi: int
    missed: int  # right side of Table 1, unknown on a real share
    rejected: int
    auc: float | None  # eq. 3: the mean of sensitivity and specificity at one threshold

    @property
    def not_screened(self) -> int:
        """Files that the screen did not mark."""
        return self.missed + self.rejected


def screen_texts(
    pool: Pool,
    wanted: Sequence[str],
    config: Config,
    *,
    log: Callable[[str], None] = lambda _message: None,
) -> dict[str, dict[str, bool]]:
    """Return, for each text, whether each screen marks it.

    The characteristics are screened separately from phiscan, whose cascade skips names in clear files.
    """
    classifier, decider = build_classifier(config), build_decider(config)
    screener = build_screener(config)
    engine = Engine(screener, classifier, decider, config.limits, key=b"")
    found = {}
    for number, name in enumerate(wanted):
        text = pool.texts[name].text
        segments = (Segment("", 0, len(text)),) if text else ()
        document = Document(text, segments, "text/plain")
        examined = examine(document, engine)
        screening = screen(document, screener)
        bits, health = screening.vector.bits, examined.health
        is_health = health.distance is not None and health.distance <= classifier.knn.threshold_
        is_near = screening.prototype_distance <= NEAR
        found[name] = {
            "OrganizationName": PiiBit.ORGANIZATION in bits,
            "StreetAddress": PiiBit.STREET_ADDRESS in bits,
            "step 1: eq. 4": screening.hamming == 0,
            "step 1: eq. 5, at most 1 bit": is_near,
            "steps 1 and 2: eq. 4 and kNN": screening.hamming == 0 and is_health,
            "steps 1 and 2: eq. 5 and kNN": is_near and is_health,
            "the product": examined.referral is Referral.REFERRED,
        }
        if number % 200 == 199:  # noqa: PLR2004
            log(f"{number + 1} of {len(wanted)} texts screened")
    return found


def screened_shares(
    pool: Pool, shares: Sequence[Share], marks: dict[str, dict[str, bool]]
) -> list[ScreenedShare]:
    """Return the counts of every screen on every share."""
    results = []
    for share in shares:
        truth = {name: pool.texts[name].label == PHI for name in share.texts}
        for screen_name in SCREENS:
            tp = sum(marks[name][screen_name] and truth[name] for name in share.texts)
            fp = sum(marks[name][screen_name] and not truth[name] for name in share.texts)
            fn = sum(truth.values()) - tp
            tn = len(share.texts) - tp - fp - fn
            results.append(
                ScreenedShare(share.kind, share.prevalence, screen_name, tp, fp, fn, tn, eq_3(tp, fp, fn, tn))
            )
    return results


def eq_3(tp: int, fp: int, fn: int, tn: int) -> float | None:
    """Return the area under the curve at one threshold: the mean of sensitivity and specificity (eq. 3).

    >>> eq_3(3, 10, 1, 90)
    0.825
    """
    if not tp + fn or not tn + fp:
        return None
    return (tp / (tp + fn) + tn / (tn + fp)) / 2


def payload(pool: Pool, results: Sequence[ScreenedShare]) -> dict[str, Any]:
    """Return the JSON object of ``phiscan benchmark screened-positives``."""
    return {
        "data": {"source": pool.source, "sha256": pool.sha256, "texts": len(pool.texts)},
        "shares": [_shape(result) for result in results],
        "paper": {name: {"tdp": tdp, "frp": frp} for name, (tdp, frp) in PAPER.items()},
    }


def _shape(found: ScreenedShare) -> dict[str, Any]:
    measures = tdp_frp(found.n_phi, found.n_not_phi, found.not_screened)
    shape = asdict(found) | {
        "table_1_screened": asdict(screened_table(found.n_phi, found.n_not_phi, found.not_screened)),
        "tdp": _figure(measures.tdp),
        "frp": _figure(measures.frp),
        "ppv": _figure(measures.ppv),
        "coverage": _figure(coverage(found.n_phi, found.n_not_phi, found.not_screened)),
        "recall": rates(found.n_phi, found.n_phi + found.n_not_phi, found.n_phi + found.missed).recall,
    }
    if found.auc is None or measures.ppv.value is None:
        shape["reason"] = "no file on one side of the table"
    return shape


def _figure(found: Figure) -> dict[str, Any]:
    shape: dict[str, Any] = {"value": found.value, "ci95": None if found.ci95 is None else list(found.ci95)}
    return shape | ({"reason": found.reason} if found.reason else {})


def markdown(shape: dict[str, Any]) -> list[str]:
    """Return Tables 1, 3 and 4 as Markdown lines."""
    data = shape["data"]
    lines = [
        f"Texts: {data['source']}; {data['texts']:,}.",
        *(f"{name}: SHA-256 {digest}" for name, digest in data["sha256"].items()),
        "",
        _CAPTION,
        "",
        "| share | prevalence | screen | PHI | not PHI | TDP | FRP | PPV | AUC |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in shape["shares"]:
        figures = [_cell(row[name]) for name in ("tdp", "frp", "ppv")]
        auc = "-" if row["auc"] is None else f"{row['auc']:.3f}"
        lines.append(
            f"| {row['kind']} | {row['prevalence']} | {row['screen']} | {row['n_phi']} ({row['missed']}) |"
            f" {row['n_not_phi']} ({row['rejected']}) | " + " | ".join(figures) + f" | {auc} |"
        )
    lines += ["", "The paper's Table 4 (123 files of second-hand drives, most of them PHI):", ""]
    lines += [f"* {name}: TDP {item['tdp']}, FRP {item['frp']}" for name, item in shape["paper"].items()]
    return [*lines, ""]


def page_lines(shape: dict[str, Any]) -> list[str]:
    """Return the tables of the page: the first share by every screen, then every share by three of them."""
    rows = shape["shares"]
    kind, prevalence = rows[0]["kind"], rows[0]["prevalence"]
    first = [row for row in rows if (row["kind"], row["prevalence"]) == (kind, prevalence)]
    lines = [
        f"| screen ({kind}, {prevalence}) | PHI found | not PHI | FRP [95%] | AUC (eq. 3) |",
        "| --- | --- | --- | --- | --- |",
    ]
    for row in first:
        low, high = row["frp"]["ci95"]
        lines.append(
            f"| {row['screen']} | {row['n_phi']} | {row['n_not_phi']} |"
            f" {row['frp']['value']:.3f} [{low:.3f}, {high:.3f}] | {row['auc']:.3f} |"
        )
    lines += [
        "",
        "| share | PHI of files | eq. 4: PHI found, not PHI | eq. 4 and kNN | the product | AUC: the same |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for kind, prevalence in dict.fromkeys((row["kind"], row["prevalence"]) for row in rows):
        by = {row["screen"]: row for row in rows if (row["kind"], row["prevalence"]) == (kind, prevalence)}
        shown = [by[name] for name in ("step 1: eq. 4", "steps 1 and 2: eq. 4 and kNN", "the product")]
        files = sum(shown[0][name] for name in ("n_phi", "n_not_phi", "missed", "rejected"))
        phi = shown[0]["n_phi"] + shown[0]["missed"]
        cells = " | ".join(f"{row['n_phi']}, {row['n_not_phi']}" for row in shown)
        areas = ", ".join(f"{row['auc']:.3f}" for row in shown)
        lines.append(f"| {kind} | {phi} of {files} ({phi / files:.2%}) | {cells} | {areas} |")
    return lines


def _cell(figure: dict[str, Any]) -> str:
    if figure["value"] is None:
        return "-"
    low, high = figure["ci95"]
    return f"{figure['value']:.4f} [{low:.4f}, {high:.4f}]"
