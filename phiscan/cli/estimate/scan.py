"""The capture histories of a scan's confirmed PHI files, and the numbers of its second list."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from phiscan.cli.estimate.json_shapes import Shape, figure
from phiscan.config import load_config
from phiscan.errors import InputError
from phiscan.metrics.capture_recapture.captures import CaptureTable, capture_table
from phiscan.report.data.estimates import SecondList
from phiscan.report.second_list import NOT_KNOWN, made_of, second_list


@dataclass(frozen=True, slots=True)
class ScanCaptures:
    """The counts of a scan: capture histories of the detectors, and the second list."""

    captures: CaptureTable
    second_list: SecondList


def captures_of_scan(config_path: str | None, scan_id: int | None) -> ScanCaptures:
    """Count the confirmed PHI files of a scan (None: all files present now) by capture history.

    Raises:
        InputError: fewer than two detectors ran.
    """
    # sqlalchemy takes a second to load: not for an estimate from counts.
    from phiscan.report.gather import Names, file_entry  # noqa: PLC0415
    from phiscan.report.sections.missed import MIN_DETECTORS, histories  # noqa: PLC0415
    from phiscan.review.store import Store  # noqa: PLC0415

    names = Names(many_roots=False)
    with Store.open(load_config(Path(config_path) if config_path else None).database_url) as store:
        rows = store.present_rows(conceal=True) if scan_id is None else store.rows(scan_id, conceal=True)
        read = [file_entry(row, names) for row in rows if row.referral is not None]
        name = store.name
    found = histories(read)
    if not found or len(found[0].detectors) < MIN_DETECTORS:
        message = f"{name}: expected a scan in which two detectors or more gave verdicts"
        raise InputError(message)
    counts = {
        tuple(map(int, one.detectors.values())): one.phi for one in found if any(one.detectors.values())
    }
    captures = capture_table(list(counts), list(counts.values()))
    return ScanCaptures(captures, second_list(read))


def second_list_shape(found: SecondList | None) -> Shape:
    """Return the known numbers of the second list; None: none are known."""
    if found is None:
        unknown: Shape = dict.fromkeys(("files", "reviewed", "phi", "phi_share", "too_low"))
        return unknown | {"reason": NOT_KNOWN}
    shape: Shape = {
        "files": found.files,
        "reviewed": found.reviewed,
        "phi": found.phi,
        "phi_share": found.phi_share and figure(found.phi_share),
        "too_low": found.too_low,
        "sentence": found.sentence,
    }
    if found.phi is None:
        shape["reason"] = "phi, phi_share: --second-list has no number of PHI files"
    return shape


def stated_second_list(reviewed: int, files: int) -> SecondList:
    """Return the second list from these two numbers.

    Raises:
        InputError: more were reviewed than it contains.
    """
    if reviewed > files:
        message = f"--second-list: expected at most {files} reviewed, got {reviewed}"
        raise InputError(message)
    return made_of(files, reviewed, None)
