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


_GOOD = {
    "assigned": lazy_gettext("Assigned."),
    "kept": lazy_gettext("The view is saved."),
    "forgotten": lazy_gettext("The view is removed."),
    "undone": lazy_gettext("Your last decision is undone."),
    "redone": lazy_gettext("Your decision is recorded again."),
    "corrected": lazy_gettext("The correction is recorded."),
    "complete": lazy_gettext("All spans are checked: this file counts as gold standard for the scores."),
    "incomplete": lazy_gettext("The spans no longer count as checked."),
    "topics": lazy_gettext("The topics are recorded."),
    "suppressed": lazy_gettext(
        "What you chose is hidden from now on. You can lift the suppression at any time."
    ),
    "approved": lazy_gettext("Approved: it hides from now on."),
    "lifted": lazy_gettext("Lifted: what it hid is in the queue again."),
    "settled": lazy_gettext("Adjudicated: your verdict is final."),
    "end": lazy_gettext("That was the last of this view."),
    "drawn": lazy_gettext("The sample is drawn; its files are in the queue among the others."),
    "policy": lazy_gettext("In effect from now on."),
    "written": lazy_gettext("The incident is written."),
    "answered": lazy_gettext("Thank you: your answer is recorded. The next scan checks it."),
    "recorded": lazy_gettext("Recorded."),
    "mailed": lazy_gettext("The e-mail to the owner is sent, and recorded in the log."),
}
_WARN = {
    "none": lazy_gettext("Nothing was chosen."),
    "nothing_to_undo": lazy_gettext("There is no decision of yours to undo."),
    "nothing_to_redo": lazy_gettext(
        "Nothing was redone: you have decided since, or somebody else decided one of the files."
    ),
    "conflict": lazy_gettext(
        "Not recorded: somebody else decided it, or its content changed, after you opened it. This is"
        " its current state, with your reason and note; decide again if you still want to."
    ),
    "unopened": lazy_gettext(
        "Not recorded: this file is reviewed blind, and you have not opened it. Reveal its text and "
        "decide, or mark that you judge it by its name alone, which counts in no estimate."
    ),
    "changed": lazy_gettext(
        "Not recorded: the file was examined again after you opened it. Check it, then correct."
    ),
    "reason": lazy_gettext(
        "Not recorded: that reason belongs to another verdict. Choose another reason; your note is kept."
    ),
    "gone": lazy_gettext(
        "Not shown: the file has changed since it was examined, or is gone. The next scan examines it again."
    ),
    "settled_before": lazy_gettext(
        "Not recorded: it is already adjudicated, or one of the two reviewers changed the verdict."
    ),
    "busy": lazy_gettext("A pack is being made already. Wait until it is listed."),
}
_INFO = {
    "skipped": lazy_gettext("Skipped; it comes back to you in four hours."),
    "masked": lazy_gettext("The text is masked again."),
    "waiting": lazy_gettext(
        "Recorded. It hides so much that a lead must approve it; until then it hides nothing."
    ),
    "making": lazy_gettext("The pack is being made. This page lists it when it is ready."),
}
NOTICES: Mapping[str, Notice] = {
    name: Notice(kind, words, undoes=name == "redone")
    for kind, of_kind in (("good", _GOOD), ("warn", _WARN), ("info", _INFO))
    for name, words in of_kind.items()
}


def notice(word: str) -> Notice | None:
    """Return the notice of a name; None if there is none."""
    return NOTICES.get(word)
