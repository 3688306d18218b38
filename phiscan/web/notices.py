"""Notices: short messages after a redirect, selected by a name in the address, never by their text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from phiscan.language import lazy_gettext


@dataclass(frozen=True, slots=True)
class Notice:
    """One message."""

    kind: str  # good, warn or info: the colour
    words: str
    file_id: int | None = None  # offers to undo the decision about this file
    suppress_url: str = ""  # offers to suppress similar findings
    undoes: bool = False  # offers to undo the reviewer's last action
    redoes: bool = False  # offers to redo the action that was just undone


NOTICES: Mapping[str, Notice] = {
    "assigned": Notice("good", lazy_gettext("Assigned.")),
    "none": Notice("warn", lazy_gettext("Nothing was chosen.")),
    "kept": Notice("good", lazy_gettext("The view is saved.")),
    "forgotten": Notice("good", lazy_gettext("The view is removed.")),
    "undone": Notice("good", lazy_gettext("Your last decision is undone.")),
    "nothing_to_undo": Notice("warn", lazy_gettext("There is no decision of yours to undo.")),
    "nothing_to_redo": Notice(
        "warn",
        lazy_gettext(
            "Nothing was redone: you have decided since, or somebody else decided one of the files."
        ),
    ),
    "redone": Notice("good", lazy_gettext("Your decision is recorded again."), undoes=True),
    "skipped": Notice("info", lazy_gettext("Skipped; it comes back to you in four hours.")),
    "corrected": Notice("good", lazy_gettext("The correction is recorded.")),
    "complete": Notice(
        "good",
        lazy_gettext("All spans are checked: this file counts as gold standard for the scores."),
    ),
    "incomplete": Notice("good", lazy_gettext("The spans no longer count as checked.")),
    "topics": Notice("good", lazy_gettext("The topics are recorded.")),
    "conflict": Notice(
        "warn",
        lazy_gettext(
            "Not recorded: somebody else decided it, or its content changed, after you opened "
            "it. This is its current state, with your reason and note; decide again if you still "
            "want to."
        ),
    ),
    "changed": Notice(
        "warn",
        lazy_gettext(
            "Not recorded: the file was examined again after you opened it. Check it, then correct."
        ),
    ),
    "reason": Notice(
        "warn",
        lazy_gettext(
            "Not recorded: that reason belongs to another verdict. Choose another reason; your note is kept."
        ),
    ),
    "gone": Notice(
        "warn",
        lazy_gettext(
            "Not shown: the file has changed since it was examined, or is gone. The next scan "
            "examines it again."
        ),
    ),
    "masked": Notice("info", lazy_gettext("The text is masked again.")),
    "suppressed": Notice(
        "good",
        lazy_gettext("What you chose is hidden from now on. You can lift the suppression at any time."),
    ),
    "waiting": Notice(
        "info",
        lazy_gettext("Recorded. It hides so much that a lead must approve it; until then it hides nothing."),
    ),
    "approved": Notice("good", lazy_gettext("Approved: it hides from now on.")),
    "lifted": Notice("good", lazy_gettext("Lifted: what it hid is in the queue again.")),
    "settled": Notice("good", lazy_gettext("Adjudicated: your verdict is final.")),
    "settled_before": Notice(
        "warn",
        lazy_gettext(
            "Not recorded: it is already adjudicated, or one of the two reviewers changed the verdict."
        ),
    ),
    "end": Notice("good", lazy_gettext("That was the last of this view.")),
    "drawn": Notice(
        "good",
        lazy_gettext("The sample is drawn; its files are in the queue among the others."),
    ),
    "policy": Notice("good", lazy_gettext("In effect from now on.")),
    "mailed": Notice("good", lazy_gettext("The e-mail to the owner is sent, and recorded in the log.")),
    "making": Notice("info", lazy_gettext("The pack is being made. This page lists it when it is ready.")),
    "busy": Notice("warn", lazy_gettext("A pack is being made already. Wait until it is listed.")),
}


def notice(word: str) -> Notice | None:
    """Return the notice of a name; None if there is none."""
    return NOTICES.get(word)
