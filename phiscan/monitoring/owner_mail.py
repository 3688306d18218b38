"""An e-mail to the owner of a confirmed file: what is to be done by when, and no word that may be a value.

Path and share are shown by the allow list of masked prose: a word that could be a name or a number is masked,
because a file is often called after its patient. The owner finds the file by its type, size and day.
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
"""What the owner is asked to do, by who can read the file; where that is not known, as for everyone."""


@dataclass(frozen=True, slots=True)
class OwnerMail:
    """Subject and text of one message."""

    subject: str
    text: str


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What the message says of a file."""

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
        facts: what it says.
        pieces: cuts a text into stretches, each with whether it may be shown (``AllowList.pieces``).
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
    """Return a path with each part masked whose words may not all be shown.

    >>> masked_path("Clinics/Roy, Ann/notes", lambda part: [(part, part != "Roy, Ann")])
    'Clinics/▒▒▒/notes'
    """
    shown = (
        visible(part) if all(is_shown for _text, is_shown in pieces(part)) else MASK
        for part in path.split("/")
        if part
    )
    return "/".join(shown)


def is_at_home(address: str, sender: str) -> bool:
    """Tell whether an address is at the sender's own domain or below it: no other is written to.

    >>> is_at_home("ann@ward.hospital.example", "privacy@hospital.example")
    True
    >>> is_at_home("ann@nothospital.example", "privacy@hospital.example")
    False
    """
    home = sender.rpartition("@")[2].casefold()
    domain = address.rpartition("@")[2].casefold()
    return bool(home) and (domain == home or domain.endswith("." + home))
