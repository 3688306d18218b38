"""Who wrote a file, with which program, and when: facts about the file, not about the person in it.

Office programs and cameras note their user in every file. Without this, each leaflet that has an author would
join health information to a person. What is found there stays a finding, with its place; it sets no
characteristic and counts for nobody at risk. Titles, subjects, comments and keywords are not exempt:
people put patients' names there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from phiscan.model import Document, Finding

PLACES = ("#properties", "#metadata")
"""How the locators of a file's own properties end."""

LABELS = frozenset(
    {
        *(
            "author",
            "artist",
            "creator",
            "initialcreator",
            "lastauthor",
            "lastmodifiedby",
            "lastsavedby",
            "manager",
        ),
        *(
            "application",
            "appname",
            "appversion",
            "company",
            "creatortool",
            "generator",
            "producer",
            "program",
        ),
        *("software", "template", "hostcomputer", "make", "model"),
        *(
            "created",
            "creationdate",
            "createdate",
            "date",
            "modified",
            "moddate",
            "modifydate",
            "lastprinted",
        ),
        *("lastsaved", "lastsavedtime", "printdate", "metadatadate", "datetime", "datetimeoriginal"),
        *("datetimedigitized", "editingduration", "totaltime"),
    }
)
"""Labels of authorship, programs and times, as all our readers write them, letters only."""

REASON = "names the author of the file"
_LABEL = re.compile(r"([^:\n]{1,40}):[ \t]")
_NOT_A_LETTER = re.compile(r"[^a-z]")


def mark_about_file(document: Document, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings; those about the file itself without their characteristics, and with the reason."""
    for finding in findings:
        if _is_about_file(document, finding):
            yield finding.set_aside("place", REASON)
        else:
            yield finding


def is_marked(finding: Finding) -> bool:
    """Tell whether a finding was found to be about the file."""
    return finding.was_set_aside(REASON)


def _is_about_file(document: Document, finding: Finding) -> bool:
    start = finding.span.start
    if not document.locate(start).endswith(PLACES):
        return False
    begin = document.text.rfind("\n", 0, start) + 1
    label = _LABEL.match(document.text, begin)
    return label is not None and _NOT_A_LETTER.sub("", label[1].lower()) in LABELS
