"""The golden files: one text of each kind of document, with every finding that phiscan has in it.

    .venv/bin/python tests/screen/golden_files.py

writes ``tests/screen/golden/*.json`` anew from the texts beside them. Read the difference before committing
it: a line that goes is a name or a number that is no longer found, a line that comes may be one too many. The
texts are invented; nobody in them exists. What is missed or wrong in them today stands in the files as it is:
they show change, not merit.
"""

import json
from pathlib import Path

from phiscan.model import Document, Screening
from phiscan.screen import screen
from tests.screen.whole import plain, shipped

FOLDER = Path(__file__).parent / "golden"
Row = list[int | str]


def texts() -> list[Path]:
    """Return the texts, in order."""
    return sorted(FOLDER.glob("*.txt"))


def read(path: Path) -> Document:
    """Return the document of a text, its line ends untouched (HL7 has carriage returns)."""
    text = path.read_bytes().decode("utf-8")
    return plain(text)


def rows(document: Document, screening: Screening) -> list[Row]:
    """Return start, end, type and covered text of every finding."""
    return [
        [f.span.start, f.span.end, f.entity_type.value, f.span.of(document.text)] for f in screening.findings
    ]


def written(found: list[Row]) -> str:
    """Return the file's content: one finding a line, so that a difference reads well."""
    lines = ",\n".join(" " + json.dumps(row, ensure_ascii=False) for row in found)
    return f"[\n{lines}\n]\n" if found else "[]\n"


def main() -> None:
    """Write the files."""
    for path in texts():
        document = read(path)
        found = rows(document, screen(document, shipped()))
        path.with_suffix(".json").write_text(written(found), encoding="utf-8")
        print(f"{path.stem}: {len(found)} findings")


if __name__ == "__main__":
    main()
