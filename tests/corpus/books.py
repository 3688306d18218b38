"""The books in texts/: one entry per file of the share, with marks where the identifiers stand.

An entry starts with ``=== path | label | key=value ...``; a line ``--- name`` starts a part of it. In a part:

``[[TYPE:words]]``       an identifier, written out
``[[role.attribute]]``   an identifier of an invented person (surrogates.make_person)
``[[@name]]``            an institution of the share, from INSTITUTIONS
``[[date 2023]]``        some day of that year
``<<a~b~c>>``            one of these, drawn with the entry's own seed; ``<<n:3-9>>`` a whole number
``*12 line``             that line twelve times, ``#`` in a role replaced by the number of the repetition

An entry whose path starts with ``@`` is no file of its own: other entries contain it (``--- attach NAME``).
"""

import random
import re
from dataclasses import dataclass
from pathlib import Path

from tests.corpus.surrogates import SEED, Person, make_person, random_date

LABELS = ("phi", "pii_only", "health_only", "neither")
INSTITUTIONS: dict[str, tuple[str, str]] = {
    "hospital": ("ORGANIZATION", "Valdrenne Community Hospital"),
    "clinic": ("ORGANIZATION", "Kestrelby Family Health Team"),
    "hopital": ("ORGANIZATION", "Hôpital Sainte-Ombrelie"),
    "clsc": ("ORGANIZATION", "CLSC du Haut-Tressigny"),
    "bc": ("ORGANIZATION", "Tamarrowick General Hospital"),
    "us": ("ORGANIZATION", "Pellmoor Regional Medical Center"),
    "insurer": ("ORGANIZATION", "Northquay Mutual Assurance"),
    "usplan": ("ORGANIZATION", "Brightfathom Health Plan"),
    "lab": ("ORGANIZATION", "Ossingate Laboratories"),
    "pharmacy": ("ORGANIZATION", "Fennelcroft Pharmacy"),
    "phone": ("PHONE", "(613) 555-0100"),
    "fax": ("FAX", "(613) 555-0109"),
    "web": ("URL", "https://www.valdrenne.example.ca"),
    "street": ("STREET_ADDRESS", "1200 Caraway Heights"),
    "postal": ("POSTAL_CODE", "K0B 1R4"),
}
_MARK = re.compile(r"\[\[(.+?)\]\]|<<(.+?)>>", re.DOTALL)


@dataclass(frozen=True)
class Span:
    """One gold identifier in a part; half-open code points."""

    start: int
    end: int
    type: str
    text: str


@dataclass(frozen=True)
class Part:
    """One part of an entry (body, header, a sheet, a mail's headers): its plain text and the gold spans."""

    name: str
    text: str
    spans: tuple[Span, ...] = ()
    raw_lines: tuple[str, ...] = ()  # the same lines with "# ", "- ", "| | |" marks, for the office formats


@dataclass(frozen=True)
class Entry:
    """One file of the share, or one that others contain."""

    path: str
    label: str
    options: dict[str, str]
    parts: tuple[Part, ...]
    attachments: tuple[str, ...] = ()

    @property
    def suffix(self) -> str:
        """The file name's extension, lower case, without the dot."""
        return self.path.rpartition(".")[2].lower()

    def part(self, name: str) -> Part | None:
        """Return the part of that name, if there is one."""
        return next((part for part in self.parts if part.name == name), None)


class _Filler:
    """Replaces the marks of one entry; people are remembered per cast."""

    def __init__(self, path: str, options: dict[str, str]) -> None:
        self.region = options.get("region", "on")
        self.cast = options.get("cast", path)
        self.options = options
        self.rng = random.Random(f"{SEED}/fill/{path}")
        self.people: dict[str, Person] = {}

    def person(self, role: str) -> Person:
        if role not in self.people:
            spec = [*self.options.get(role, "").split("/"), "", "", ""]
            key = f"share/{role}" if role.startswith("s_") else f"{self.cast}/{role}"
            professional = role.removeprefix("s_").startswith(("dr", "nurse"))
            region = spec[3] or self.region
            self.people[role] = make_person(
                key, region, sex=spec[0], born=spec[1], name=spec[2], professional=professional
            )
        return self.people[role]

    def identifier(self, mark: str) -> tuple[str, str]:
        if mark.startswith("@"):
            return INSTITUTIONS[mark[1:]]
        if mark.startswith("date "):
            return "DATE", random_date(self.rng, int(mark[5:])).isoformat()
        if re.match(r"[A-Z_0-9]+:", mark):
            kind, _, text = mark.partition(":")
            return kind, text
        role, _, attribute = mark.partition(".")
        return self.person(role).get(attribute)

    def choice(self, mark: str) -> str:
        if mark.startswith("n:"):
            low, high = mark[2:].split("-")
            return str(self.rng.randrange(int(low), int(high) + 1))
        return self.rng.choice(mark.split("~"))

    def fill(self, text: str) -> tuple[str, list[Span]]:
        pieces: list[str] = []
        spans: list[Span] = []
        done = length = 0
        for match in _MARK.finditer(text):
            before = text[done : match.start()]
            pieces.append(before)
            length += len(before)
            if match[1] is None:
                value = self.choice(match[2])
            else:
                kind, value = self.identifier(match[1])
                spans.append(Span(length, length + len(value), kind, value))
            pieces.append(value)
            length += len(value)
            done = match.end()
        pieces.append(text[done:])
        return "".join(pieces), spans


def _repeat(lines: list[str]) -> list[str]:
    repeated: list[str] = []
    for line in lines:
        match = re.match(r"\*(\d+) (.*)", line)
        if match:
            repeated.extend(
                re.sub(r"(\[\[\w+)#", rf"\g<1>{number}", match[2]).replace("{#}", str(number))
                for number in range(1, int(match[1]) + 1)
            )
        else:
            repeated.append(line)
    return repeated


def plain_line(line: str) -> str:
    """Drop the structure marks of a line: "# ", "- ", "| a | b |".

    >>> plain_line("| a | b |")
    'a\\tb'
    """
    if line.startswith("|"):
        return "\t".join(cell.strip() for cell in line.strip().strip("|").split("|"))
    return re.sub(r"^(#{1,3} |- )", "", line)


def _make_part(name: str, lines: list[str], filler: _Filler, *, verbatim: bool, newline: str) -> Part:
    lines = _repeat(lines)
    while lines and not lines[-1].strip():
        lines.pop()
    while lines and not lines[0].strip():
        lines.pop(0)
    filled, spans = [], []
    start = 0
    for line in lines:
        text, line_spans = filler.fill(line if verbatim else plain_line(line))
        spans.extend(Span(s.start + start, s.end + start, s.type, s.text) for s in line_spans)
        filled.append(text)
        start += len(text) + len(newline)
    raw = tuple(_restore(line, text) for line, text in zip(lines, filled, strict=True))
    text = newline.join(filled) + (newline if verbatim and filled else "")
    return Part(name, text, tuple(spans), raw)


def _restore(line: str, filled: str) -> str:
    """Put the structure marks back in front of the filled text."""
    if line.startswith("|"):
        return "| " + " | ".join(filled.split("\t")) + " |"
    match = re.match(r"^(#{1,3} |- )", line)
    return (match[1] if match else "") + filled


VERBATIM = {"txt", "csv", "tsv", "html", "htm", "hl7", "json", "log", "py", "sql", "md", "ini", "bat"}
VERBATIM |= {"ics", "xml", "sh", "vcf", "bak", "asc"}
_NEWLINES = {"crlf": "\r\n", "cr": "\r", "lf": "\n"}


def _make_entry(head: str, body: list[str]) -> Entry:
    path, label, *rest = (piece.strip() for piece in head.removeprefix("===").split("|"))
    options = dict(item.split("=", 1) for item in " ".join(rest).split())
    if label not in LABELS:
        message = f"{path}: label {label}"
        raise ValueError(message)
    filler = _Filler(path, options)
    verbatim = path.rpartition(".")[2].lower() in VERBATIM
    newline = _NEWLINES[options.get("newline", "lf")]
    parts: list[Part] = []
    attachments: list[str] = []
    name, lines = "body", []
    for line in [*body, "--- end"]:
        if not line.startswith("--- "):
            lines.append(line)
            continue
        if any(text.strip() for text in lines):
            parts.append(_make_part(name, lines, filler, verbatim=verbatim, newline=newline))
        name, lines = line[4:].strip(), []
        if name.startswith("attach "):
            attachments.append(name[7:])
            name = "body"
    return Entry(path, label, options, tuple(parts), tuple(attachments))


def load_entries(folder: Path) -> dict[str, Entry]:
    """Read all books; entries by path, in the order of the books."""
    entries: dict[str, Entry] = {}
    for book in sorted(folder.glob("*.txt")):
        head, body = "", []
        for line in [*book.read_text(encoding="utf-8").split("\n"), "=== end"]:
            if not line.startswith("=== "):
                body.append(line)
                continue
            if head:
                entry = _make_entry(head, body)
                if entry.path in entries:
                    message = f"{book.name}: {entry.path} stands twice"
                    raise ValueError(message)
                entries[entry.path] = entry
            head, body = line, []
    return entries
