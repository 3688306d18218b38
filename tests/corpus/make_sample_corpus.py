"""Make sample_corpus/ anew: ``python -m tests.corpus.make_sample_corpus [FOLDER]``, from the checkout.

The same checkout gives the same bytes every time: the seed and the times in archives, documents and PDFs
are fixed.
What stands in the files is written in texts/*.txt; README.md in sample_truth/ says what the truth means.
"""

import json
import re
import sys
from dataclasses import asdict
from pathlib import Path

from tests.corpus.books import Entry, load_entries
from tests.corpus.formats import gold, make_file

HERE = Path(__file__).resolve().parent
SAMPLE = HERE.parents[1] / "sample_corpus"
TRUTH = HERE.parents[1] / "sample_truth" / "truth.jsonl"  # outside of the share, which has no such file


def check_span(path: str, text: str) -> None:
    """Refuse a gold span that a search of our outputs could meet by chance.

    Raises:
        ValueError: the text is shorter than six characters, or has neither two letters in a row, nor
            six digits, nor letters and digits mixed as in a postal code.
    """
    letters = re.search(r"[^\W\d_]{2}", text)
    digits = re.sub(r"\D", "", text)
    mixed = bool(digits) and sum(char.isalnum() for char in text) >= 6 and any(map(str.isalpha, text))
    if len(text) < 6 or not (letters or len(digits) >= 6 or mixed) or text.startswith("2026"):
        message = f"{path}: gold span of {len(text)} characters is too weak to search for"
        raise ValueError(message)


def truth_line(entry: Entry, entries: dict[str, Entry]) -> str:
    """Return the line of truth.jsonl for one file."""
    spans = [asdict(span) for span in gold(entry, entries)]
    for span in spans:
        check_span(entry.path, span["text"])
    line = {"path": entry.path, "label": entry.label, "spans": spans}
    return json.dumps(line, ensure_ascii=False)


def make_corpus(folder: Path, truth: Path) -> int:
    """Write the share into ``folder``, and its truth; remove files that no entry makes; return the count."""
    entries = load_entries(HERE / "texts")
    shared = {path: entry for path, entry in entries.items() if not path.startswith("@")}
    folder.mkdir(parents=True, exist_ok=True)
    for path, entry in shared.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(make_file(entry, entries))
    lines = [truth_line(shared[path], entries) for path in sorted(shared)]
    truth.parent.mkdir(parents=True, exist_ok=True)
    truth.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    for old in [p for p in folder.rglob("*") if p.is_file()]:
        if old.relative_to(folder).as_posix() not in shared:
            old.unlink()
    return len(shared)


if __name__ == "__main__":
    target_folder = Path(sys.argv[1]) if len(sys.argv) > 1 else SAMPLE
    truth_file = target_folder.with_name("truth.jsonl") if len(sys.argv) > 1 else TRUTH
    print(make_corpus(target_folder, truth_file), "files in", target_folder)
