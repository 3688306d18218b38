"""The second list: files that a detector marked and P(PHI) did not refer; its size and yield by verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from phiscan.language import lazy_gettext as _
from phiscan.metrics.intervals import proportion
from phiscan.model import Verdict
from phiscan.report.data.estimates import SecondList
from phiscan.report.data.report import FileEntry
from phiscan.report.words import count

NOT_REVIEWED = _("no file of the second list has been reviewed")
NOT_KNOWN = _(
    "The counts do not say whether the second list (marked by a detector and not "
    "referred) was reviewed; the estimate is too low if it was not."
)


def second_list(files: Sequence[FileEntry]) -> SecondList:
    """Count the second list of the files that were read, and its verdicts."""
    verdicts = [entry.verdict for entry in files if entry.second_look]
    phi, not_phi = verdicts.count(Verdict.PHI), verdicts.count(Verdict.NOT_PHI)
    return made_of(len(verdicts), phi + not_phi, phi)


def made_of(files: int, reviewed: int, phi: int | None) -> SecondList:
    """Return size and yield of a list from the numbers of its files, reviewed and confirmed ones.

    ``phi``: None if it is not known how many of the reviewed files are PHI.
    """
    return SecondList(
        files=files,
        reviewed=reviewed,
        phi=phi,
        not_phi=None if phi is None else reviewed - phi,
        phi_share=None if phi is None else proportion(phi, reviewed, NOT_REVIEWED),
        too_low=reviewed < files,
        sentence=_sentence(files, reviewed, phi),
    )


def _sentence(files: int, reviewed: int, phi: int | None) -> str:
    if not files:
        return _("The second list is empty: every file that a detector marked was referred.")
    what = _(
        "Second list (marked by a detector and not referred): {reviewed} of {files} reviewed",
        reviewed=count(reviewed),
        files=count(files),
    )
    found = _(", {phi} of those hold PHI", phi=count(phi)) if phi is not None and reviewed else ""
    if reviewed < files:
        return _(
            "{what}{found}. The estimate of missed PHI is too low, because the rest was not reviewed.",
            what=what,
            found=found,
        )
    return _("{what}{found}. The capture histories are complete.", what=what, found=found)
