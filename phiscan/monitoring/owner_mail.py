"""Compose the e-mail to the owner of a confirmed file: the required action and date, without any value.

Words of the path that are not on the allow list are masked, because files are often named after a patient.
The owner finds the file by its type, size and date.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime

from phiscan.language import gettext as _
from phiscan.language import lazy_gettext
from phiscan.visible import visible

MASK = "▒▒▒"
_SUBJECT = lazy_gettext("A file of yours needs attention (reference {number})")
_TEXT = lazy_gettext(
    """Hello,

a privacy review has confirmed that a file of yours holds personal health information.

  Reference      {number}
  Folder         {folder}
  Type           {type}
  Size           {size}
  Last changed   {changed}
  Readable by    {readers}

What to do: {steps}.
Please do so by {due}.

In this message, words of the folder that could be a name or a number are
masked, and the name of the file is left out. Please do not send the file,
or anything from it, by e-mail. For a question, answer with the reference.
"""
)

STEPS = {
    "everyone": lazy_gettext(
        "restrict now who can read it; then move it to a protected\nfolder, or delete it"
    ),
    "group": lazy_gettext(
        "check that the whole group may see it; otherwise restrict who can\nread it, or move it"
    ),
    "owner": lazy_gettext("move it to a protected folder, or delete it if it is not needed"),
}
"""The requested action by exposure; unknown exposure is treated as everyone."""


@dataclass(frozen=True, slots=True)
class OwnerMail:
    """Subject and text of one message."""

    subject: str
    text: str


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The facts about a file in the message."""

    number: int
    folder: str  # with the share before it
    type: str
    size: str
    changed: datetime | None
    readers: str
    exposure: str  # who can read it: everyone, group or owner
    due: date


def owner_mail(facts: FileFacts, pieces: Callable[[str], list[tuple[str, bool]]]) -> OwnerMail:
    """Return the message about one file.

    Args:
        facts: about the file.
        pieces: splits a text into parts, each with whether it may be shown (``AllowList.pieces``).
    """
    return OwnerMail(
        _SUBJECT.format(number=facts.number),
        _TEXT.format(
            number=facts.number,
            folder=masked_path(facts.folder, pieces) or _("top folder of the share"),
            type=facts.type,
            size=facts.size,
            changed=_("not known") if facts.changed is None else facts.changed.date().isoformat(),
            readers=facts.readers,
            steps=STEPS.get(facts.exposure, STEPS["everyone"]),
            due=facts.due.isoformat(),
        ),
    )


def masked_path(path: str, pieces: Callable[[str], list[tuple[str, bool]]]) -> str:
    """Return a path in which each part with a word that may not be shown is masked.

    >>> masked_path("Clinics/Roy, Ann/notes", lambda part: [(part, part != "Roy, Ann")])
    'Clinics/▒▒▒/notes'
    """
    shown = (
        visible(part) if all(is_shown for _text, is_shown in pieces(part)) else MASK
        for part in path.split("/")
        if part
    )
    return "/".join(shown)


def is_same_domain(address: str, sender: str) -> bool:
    """Return whether an address is in the sender's domain or a subdomain; others get no mail.

    >>> is_same_domain("ann@ward.hospital.example", "privacy@hospital.example")
    True
    >>> is_same_domain("ann@nothospital.example", "privacy@hospital.example")
    False
    """
    home = sender.rpartition("@")[2].casefold()
    domain = address.rpartition("@")[2].casefold()
    return bool(home) and (domain == home or domain.endswith("." + home))
