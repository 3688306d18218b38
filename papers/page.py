"""Write the tables of docs/explanation/papers.md from the results of the papers' commands.

    python -m papers.page build/papers

A table stands between two comments that name its experiment; below it is what made it: the versions of
phiscan and of the libraries, and the SHA-256 of the files that were given.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from papers import simulation
from papers.evaluation import results as evaluation
from papers.false_negatives import experiment as false_negatives
from papers.i2b2 import tables as i2b2
from papers.screened import experiment as screened
from phiscan.errors import InputError

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "papers.md"
Shape = dict[str, Any]
# Table of the page: the file of its results below the folder, and the lines made from it.
TABLES: Mapping[str, tuple[str, Callable[[Shape], list[str]]]] = {
    "i2b2": ("i2b2/results.json", i2b2.page_lines),
    "false-negatives": ("mane/results.json", false_negatives.page_lines),
    "screened-positives": ("sokolova/results.json", screened.page_lines),
    "screened-positives --texts": ("sokolova-texts/results.json", screened.page_lines),
    "thresholdless": ("boyd/results.json", evaluation.page_lines),
    "simulate": ("boyd/estimators.json", simulation.page_lines),
}
_BLOCK = "<!-- made by papers.page: {} -->\n\n"
_END = "<!-- end -->"


def table_of(page: str, name: str) -> list[str]:
    """Return the lines of a table of the page, without those on what made it.

    Raises:
        InputError: the page has no such table.
    """
    found = re.search(re.escape(_BLOCK.format(name)) + r"(.*?)" + re.escape(_END), page, re.DOTALL)
    if found is None:
        message = f"{PAGE}: expected the comments of the table {name}"
        raise InputError(message)
    return found[1].partition("\n\nMade with ")[0].splitlines()


def with_table(page: str, name: str, shape: Shape) -> str:
    """Return the page with one table replaced."""
    table_of(page, name)
    lines = [*TABLES[name][1](shape), "", made_with(shape)]
    pattern = re.escape(_BLOCK.format(name)) + r".*?" + re.escape(_END)
    block = _BLOCK.format(name) + "\n".join(lines) + "\n\n" + _END
    return re.sub(pattern, lambda _match: block, page, count=1, flags=re.DOTALL)


def made_with(shape: Shape) -> str:
    """Return the line on versions and given files."""
    versions = ", ".join(f"{name} {version}" for name, version in shape["versions"].items())
    digests = shape.get("data", {}).get("sha256") or {}
    if isinstance(digests, str):
        digests = {"file": digests}
    elif not isinstance(digests, Mapping):
        digests = {f"file {number}": digest for number, digest in enumerate(digests, start=1)}
    files = "".join(f"; `{name}` {digest[:16]}" for name, digest in digests.items())
    return f"Made with {versions}{files and '. Files, first digits of SHA-256' + files.replace(';', ':', 1)}."


def main(folder: Path) -> None:
    """Write every table whose results are in the folder."""
    page = PAGE.read_text(encoding="utf-8")
    for name, (path, _) in TABLES.items():
        if (folder / path).exists():
            page = with_table(page, name, json.loads((folder / path).read_text(encoding="utf-8")))
            print(f"{PAGE.name}: {name}")
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
