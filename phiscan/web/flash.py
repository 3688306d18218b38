"""What was just done, said on the page that follows; chosen by a word in the address, never by its text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Flash:
    """One message."""

    kind: str  # good, warn or info: its colour
    words: str
    file_id: int | None = None  # the decision about this file can be taken back from here
    suppress_url: str = ""  # where others like it can be hidden
    undoes: bool = False  # the reviewer's last act can be undone from here
    redoes: bool = False  # what was just undone can be redone from here


FLASHES: Mapping[str, Flash] = {
    "assigned": Flash("good", "Assigned."),
    "none": Flash("warn", "Nothing was chosen."),
    "kept": Flash("good", "The view is saved."),
    "forgotten": Flash("good", "The view is removed."),
    "undone": Flash("good", "Your last decision is undone."),
    "nothing_to_undo": Flash("warn", "There is no decision of yours to undo."),
    "nothing_to_redo": Flash(
        "warn", "Nothing was redone: you have decided since, or somebody else decided one of the files."
    ),
    "redone": Flash("good", "Your decision is recorded again.", undoes=True),
    "skipped": Flash("info", "Skipped; it comes back to you in four hours."),
    "corrected": Flash("good", "The correction is recorded."),
    "complete": Flash("good", "All spans are checked: this file counts as gold standard for the scores."),
    "incomplete": Flash("good", "The spans no longer count as checked."),
    "topics": Flash("good", "The topics are recorded."),
    "conflict": Flash(
        "warn",
        "Not recorded: somebody else decided it, or its content changed, after you opened it. This is its "
        "current state, with your reason and note; decide again if you still want to.",
    ),
    "changed": Flash(
        "warn", "Not recorded: the file was examined again after you opened it. Check it, then correct."
    ),
    "reason": Flash(
        "warn",
        "Not recorded: that reason belongs to another verdict. Choose another reason; your note is kept.",
    ),
    "gone": Flash(
        "warn",
        "Not shown: the file has changed since it was examined, or is gone. The next scan examines it again.",
    ),
    "masked": Flash("info", "The text is masked again."),
    "suppressed": Flash(
        "good", "What you chose is hidden from now on. You can lift the suppression at any time."
    ),
    "waiting": Flash(
        "info", "Recorded. It hides so much that a lead must approve it; until then it hides nothing."
    ),
    "approved": Flash("good", "Approved: it hides from now on."),
    "lifted": Flash("good", "Lifted: what it hid is in the queue again."),
    "settled": Flash("good", "Adjudicated: your verdict is final."),
    "settled_before": Flash(
        "warn", "Not recorded: it is already adjudicated, or one of the two reviewers changed the verdict."
    ),
    "end": Flash("good", "That was the last of this view."),
    "drawn": Flash("good", "The sample is drawn; its files are in the queue among the others."),
    "policy": Flash("good", "In effect from now on."),
    "making": Flash("info", "The pack is being made. This page lists it when it is ready."),
    "busy": Flash("warn", "A pack is being made already. Wait until it is listed."),
}


def flash(word: str) -> Flash | None:
    """Return the message of a word in the address; None for any other word."""
    return FLASHES.get(word)
