"""Names of files, public names and headings use the field's terms; docs/glossary.md lists what they avoid."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"
# Pages that report history under the titles that they had.
HISTORY = ("docs/experiments/", "docs/decisions/")


def _avoided() -> frozenset[str]:
    table = GLOSSARY.read_text(encoding="utf-8").split("## Words that are not used", 1)[1]
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \|$", table, re.MULTILINE)
    return frozenset(word.strip() for row in rows[1:] for word in row.split(","))


AVOIDED = _avoided()

# Words that are not used in names of these packages, besides those of the glossary.
DESK_PACKAGES = ("phiscan/review/", "phiscan/web/", "phiscan/report/", "phiscan/cli/")
DESK_AVOIDED = frozenset({"said", "told", "tell", "tells", "twins", "doomed", "crew", "strips", "somebody"})


def words_of(name: str) -> list[str]:
    """Return the words of a name in snake case, camel case or prose.

    >>> words_of("TwinsOfFile"), words_of("is_told")
    (['twins', 'of', 'file'], ['is', 'told'])
    """
    return re.findall(r"[a-z]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).lower())


def _modules() -> Iterator[Path]:
    for folder in ("phiscan", "training"):
        yield from (ROOT / folder).rglob("*.py")


def _public_names(module: Path) -> Iterator[str]:
    for node in ast.parse(module.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
            if isinstance(node, ast.ClassDef):
                yield from (part.name for part in node.body if isinstance(part, ast.FunctionDef))
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def test_the_glossary_lists_words_that_are_avoided() -> None:
    assert {"told", "twins", "hatch", "doomed"} <= AVOIDED


@pytest.mark.parametrize("kind", ["files", "public names"])
def test_no_name_uses_an_avoided_word(kind: str) -> None:
    found = set()
    for module in _modules():
        place = module.relative_to(ROOT).with_suffix("").as_posix()
        names = [module.stem] if kind == "files" else _public_names(module)
        for name in names:
            if not name.startswith("_") or kind == "files":
                found |= {f"{place}: {name}" for word in words_of(name) if word in AVOIDED}
    assert found == set()


def test_no_heading_uses_an_avoided_word() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    found = {
        f"{page.relative_to(ROOT).as_posix()}: {heading}"
        for page in pages
        if not page.relative_to(ROOT).as_posix().startswith(HISTORY)
        for heading in re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
        for word in words_of(heading)
        if word in AVOIDED
    }
    assert found == set()


def test_no_name_of_the_desk_uses_a_word_of_the_old_dialect() -> None:
    found = set()
    for module in _modules():
        place = module.relative_to(ROOT).as_posix()
        if not place.startswith(DESK_PACKAGES):
            continue
        found |= {
            f"{place}: {name.id if isinstance(name, ast.Name) else name.name}"
            for name in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
            if isinstance(name, ast.Name | ast.FunctionDef | ast.ClassDef)
            for word in words_of(name.id if isinstance(name, ast.Name) else name.name)
            if word in DESK_AVOIDED
        }
    assert found == set()
