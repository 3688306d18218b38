"""The owner of a file, and who may read it, in words."""

from __future__ import annotations

from phiscan.language import lazy_gettext as _
from phiscan.model import SourceFile
from phiscan.review.worklist.model import Exposure
from phiscan.visible import visible

EXPOSURES: dict[Exposure, str] = {
    Exposure.EVERYONE: _("everyone who reaches the share"),
    Exposure.GROUP: _("a group, or several people by name"),
    Exposure.OWNER: _("its owner only"),
    Exposure.UNKNOWN: _("not known: the share does not report it"),
}


def owner_of(source: SourceFile) -> str:
    """Return the owner's name from the share, else the user id."""
    return visible(source.owner) or _("no. {number}", number=source.uid)
