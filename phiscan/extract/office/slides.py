"""PowerPoint presentations: slides in order, notes, comments, masters, diagrams, embedded files."""

from __future__ import annotations

import re

from phiscan.errors import ExtractError
from phiscan.extract.core import magic_numbers as magic
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.office.package import Package, properties_text
from phiscan.extract.office.runs import paragraphs_text
from phiscan.model import FailReason

# Part folder and how its place is called; a layout's text is a prompt that nobody has filled in.
_FOLDERS = (
    ("ppt/slides/slide", "slide"),
    ("ppt/notesslides/notesslide", "notes"),
    ("ppt/comments/", "comment"),
    ("ppt/diagrams/data", "diagram"),
    ("ppt/charts/chart", "chart"),
    ("ppt/slidemasters/slidemaster", "master"),
    ("ppt/slidelayouts/slidelayout", "layout"),
    ("ppt/handoutmasters/", "handout"),
    ("ppt/notesmasters/", "notesmaster"),
    ("ppt/commentauthors", "authors"),
)
_NUMBER = re.compile(r"(\d+)\.xml$")


class SlidesExtractor:
    """Read PPTX, PPTM, POTX, PPSX in both dialects."""

    media_types = frozenset({magic.PPTX})

    def extract(self, content: Content, sink: Sink) -> None:
        """Add one segment per slide ``#slide3``, then everything else."""
        package = Package(content, sink)
        parts = [(*_place(name), name) for name in package.names]
        wanted = sorted(part for part in parts if part[0] < len(_FOLDERS))
        if not wanted:
            raise ExtractError(FailReason.CORRUPT, "no presentation part")
        for rank, number, name in wanted:
            root = package.parse(name)
            if root is not None:
                place = f"{_FOLDERS[rank][1]}{number or ''}"
                text = paragraphs_text(root)
                if place == "authors":
                    text = "\n".join(element.get("name", "") for element in root)
                sink.add(text, content.place(place))
        sink.add(properties_text(package), content.place("properties"))
        for member in package.members():
            sink.read_member(member)


def _place(name: str) -> tuple[int, int]:
    """Return the rank of a part's folder and the number in its name."""
    lowered = name.lower()
    rank = next(
        (index for index, (folder, _) in enumerate(_FOLDERS) if lowered.startswith(folder)), len(_FOLDERS)
    )
    number = _NUMBER.search(lowered)
    if not lowered.endswith(".xml"):
        rank = len(_FOLDERS)
    return rank, int(number.group(1)) if number else 0
