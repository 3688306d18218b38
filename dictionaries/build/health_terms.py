"""Write dictionaries/health_*.txt from our own hand-made lists in dictionaries/build/health/*.src.

Run from the checkout: ``python dictionaries/build/health_terms.py``. A source line is
``icd|English forms|French forms``, forms parted by ``;``. The first English form names the concept, so it
is never changed once released. Behind a form, ``^`` asks for exactly this case, ``~`` for a sure health term
near by, and ``@`` says that it is a surname as well. ``[prefix]`` lines give the concept prefix. Cue files
have one line of forms per prefix, and drug files ``generic=Brand,Brand`` entries parted by ``;``.
"""

# ruff: noqa: INP001, T201 (a build command: no package, and it reports what it did)

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent
NORMALISATION = "as written; matched without accents, case and inflection unless flagged"


def slug(text: str) -> str:
    """Return a stable identifier made of a form.

    >>> slug("Crohn's disease")
    'crohns-disease'
    """
    plain = unicodedata.normalize("NFKD", text.replace("œ", "oe")).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain.replace("'", "")).strip("-")


def split_flags(form: str) -> tuple[str, str]:
    """Part a form from its flags: ``^`` case, ``~`` context, ``@`` surname; ``-`` means none."""
    flags = [name for mark, name in (("^", "case"), ("~", "context"), ("@", "surname")) if mark in form]
    return form.translate(str.maketrans("", "", "^~@")).strip(), ",".join(flags) or "-"


def rows_of(path: Path) -> list[tuple[str, str, str, str, str]]:
    """Return (term, concept, icd, flags, language) of one source file, without repeats."""
    rows: dict[str, tuple[str, str, str, str, str]] = {}
    prefix = ""
    for number, raw in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            prefix = line.strip("[]")
            continue
        for icd, language, concept, forms in _concepts(line, prefix, f"{path.name}:{number}"):
            for form in forms:
                term, flags = split_flags(form)
                if term:
                    rows.setdefault(term, (term, concept, icd or "-", flags, language))
    return list(rows.values())


def _concepts(line: str, prefix: str, where: str) -> list[tuple[str, str, str, list[str]]]:
    if prefix.startswith("cue:"):
        return [("", "-", prefix, line.split(";"))]
    if prefix == "rx":
        found = []
        for entry in line.split(";"):
            generic, _, brands = entry.strip().partition("=")
            forms = [generic, *brands.split(",")]
            found.append(("", "-", f"rx:{slug(split_flags(generic)[0])}", forms))
        return found
    icd, english, *french = line.split("|")
    if len(french) > 1 or not english:
        message = f"{where}: expected icd|English forms|French forms"
        raise SystemExit(message)
    first = split_flags(english.split(";")[0])[0]
    concept = f"{prefix}:{slug(first)}"
    both = [(icd, "en", concept, english.split(";"))]
    return [*both, (icd, "fr", concept, french[0].split(";"))] if french else both


def write(name: str, rows: list[tuple[str, str, str, str, str]], source: str, licence: str) -> None:
    """Write one dictionary file with its header."""
    header = (
        f"# source: {source}\n# licence: {licence}\n# version: 1\n# date: 2026-11-20\n"
        f"# normalisation: {NORMALISATION}\n# columns: term, concept, ICD-10-CM code, flags, language\n"
    )
    body = "".join("\t".join(row) + "\n" for row in rows)
    (TARGET / f"{name}.txt").write_text(header + body, encoding="utf-8")


def main() -> None:
    """Write every dictionary that comes from a hand-made list."""
    for path in sorted((HERE / "health").glob("*.src")):
        rows = rows_of(path)
        write(f"health_{path.stem}", rows, f"hand-made for phiscan (build/health/{path.name})", "Apache-2.0")
        print(f"health_{path.stem}.txt: {len(rows)} terms")


if __name__ == "__main__":
    main()
