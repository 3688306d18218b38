"""A larger share for benchmarks, made on the fly: many small files in five formats, 1 % with PHI.

``make_share(folder, n_files, seed)`` takes the sample corpus's books as its material: paragraphs without
identifiers become the bulk, and forms with invented people become the PHI and the staff lists. Every
file differs from every other, so that no cache by content can help.
"""

import html
import io
import random
import zipfile
from functools import cache
from pathlib import Path

from tests.corpus.books import VERBATIM, load_entries
from tests.corpus.make_sample_corpus import HERE
from tests.corpus.office import MADE
from tests.corpus.surrogates import Person, make_person

PHI_SHARE = 0.01
PII_SHARE = 0.20
_FORMATS = ("txt", "csv", "html", "eml", "docx")
_WEIGHTS = (40, 20, 15, 15, 10)
_FOLDERS = ("Administration", "Clinics", "Finance", "HR", "IT", "Research", "Archive", "Wards")
_N_PEOPLE = 400
_REGIONS = ("on", "qc", "bc", "us")
_HEALTH_CARD = {"on": "ohip", "qc": "ramq", "bc": "phn", "us": "plan"}
_HISTORIES = (
    "type 2 diabetes with neuropathy, HbA1c {n}.4 %, metformin 1 g twice daily",
    "moderate persistent asthma, {n} exacerbations this year, budesonide-formoterol",
    "major depressive disorder, PHQ-9 of {n}, sertraline 100 mg",
    "atrial fibrillation on apixaban, heart rate {n}8",
    "breast carcinoma, cycle {n} of adjuvant chemotherapy",
    "chronic kidney disease stage 4, creatinine 2{n}0 umol/L",
)
_CONTENT_TYPES = (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/word/document.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
_RELATIONSHIPS = (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="rId1" Type='
    '"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"'
    ' Target="word/document.xml"/></Relationships>'
)


@cache
def _paragraphs() -> tuple[str, ...]:
    """Return the prose of the sample's files that identify nobody."""
    found = set()
    for entry in load_entries(HERE / "texts").values():
        if entry.label in {"neither", "health_only"} and (
            entry.suffix not in VERBATIM or entry.suffix == "txt"
        ):
            for part in entry.parts:
                if not part.spans:
                    found.update(line.strip() for line in part.text.split("\n") if len(line) > 60)
    return tuple(sorted(found))


@cache
def _people() -> tuple[tuple[Person, str], ...]:
    regions = [_REGIONS[number % len(_REGIONS)] for number in range(_N_PEOPLE)]
    return tuple((make_person(f"bench/{number}", region), region) for number, region in enumerate(regions))


def _bulk(rng: random.Random, number: int) -> list[str]:
    return [f"Document {number}", *rng.sample(_paragraphs(), rng.randrange(3, 16))]


def _phi(rng: random.Random, number: int) -> list[str]:
    person, region = rng.choice(_people())
    values = person.values
    return [
        f"Consultation note {number}",
        f"Patient: {values['name']}",
        f"Date of birth: {values['dobiso']}",
        f"Health card: {values[_HEALTH_CARD[region]]}",
        f"Address: {values['street']}, {values['town']}",
        f"Telephone: {values['phone']}",
        f"History: {rng.choice(_HISTORIES).format(n=rng.randrange(2, 9))}.",
        rng.choice(_paragraphs()),
    ]


def _pii(rng: random.Random, number: int) -> list[str]:
    staff = [person.values for person, _ in rng.sample(_people(), rng.randrange(2, 12))]
    return [f"Contact list {number}", *(f"{v['name']}, {v['cell']}, {v['email']}" for v in staff)]


def _txt(lines: list[str]) -> bytes:
    return "\n\n".join(lines).encode()


def _csv(lines: list[str]) -> bytes:
    rows = (f'{number},"{line.replace(chr(34), chr(39))}"' for number, line in enumerate(lines))
    return "\r\n".join(["row,text", *rows]).encode()


def _html(lines: list[str]) -> bytes:
    body = "".join(f"<p>{html.escape(line)}</p>\n" for line in lines[1:])
    return f"<html><head><title>{lines[0]}</title></head><body>{body}</body></html>".encode()


def _eml(lines: list[str]) -> bytes:
    head = (
        "From: desk@valdrenne.example.ca\r\nTo: team@valdrenne.example.ca\r\n"
        f"Subject: {lines[0]}\r\nDate: Tue, 05 Mar 2024 09:00:00 -0500\r\nMIME-Version: 1.0\r\n"
        "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n"
    )
    return (head + "\r\n\r\n".join(lines[1:])).encode()


def _docx(lines: list[str]) -> bytes:
    """Write the least that is a Word file; python-docx would take 20 ms for each."""
    text = "".join(f"<w:p><w:r><w:t>{html.escape(line, quote=False)}</w:t></w:r></w:p>" for line in lines)
    document = (
        '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
        '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        f"<w:body>{text}</w:body></w:document>"
    )
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as out:
        for name, content in (
            ("[Content_Types].xml", _CONTENT_TYPES),
            ("_rels/.rels", _RELATIONSHIPS),
            ("word/document.xml", document),
        ):
            info = zipfile.ZipInfo(name, MADE.timetuple()[:6])
            info.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(info, content)
    return target.getvalue()


_WRITERS = {"txt": _txt, "csv": _csv, "html": _html, "eml": _eml, "docx": _docx}


def make_share(folder: Path, n_files: int, seed: int) -> list[str]:
    """Write ``n_files`` small files below ``folder``; return the relative paths of those that hold PHI.

    Exactly one file in a hundred (rounded up) holds PHI; the same seed gives the same bytes.
    """
    rng = random.Random(f"bench share {seed}")
    n_phi = -(-n_files // round(1 / PHI_SHARE))
    phi = set(rng.sample(range(n_files), n_phi))
    paths = []
    for number in range(n_files):
        kind = rng.choices(_FORMATS, _WEIGHTS)[0]
        make = _phi if number in phi else _pii if rng.random() < PII_SHARE else _bulk
        below = folder / rng.choice(_FOLDERS) / f"{number // 250:03d}"
        below.mkdir(parents=True, exist_ok=True)
        target = below / f"file{number:06d}.{kind}"
        target.write_bytes(_WRITERS[kind](make(rng, number)))
        if number in phi:
            paths.append(target.relative_to(folder).as_posix())
    return paths
