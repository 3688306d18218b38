"""Decisions and experiments are listed, and what cites them by number leads to a page."""

import re
from pathlib import Path

from tests.docs.generated import DOCS

ROOT = DOCS.parent
CITED = re.compile(r"docs/(?:decisions/(\d{4})|experiments/([\w-]+)\.md)")
NUMBERED = re.compile(r"\[decision (\d+)\]\([^)]*?(\d{4})-")


def _pages(folder: str) -> list[Path]:
    return sorted(page for page in (DOCS / folder).glob("*.md") if page.name != "README.md")


def test_every_page_is_listed() -> None:
    for folder in ("decisions", "experiments"):
        listed = (DOCS / folder / "README.md").read_text(encoding="utf-8")
        pages = _pages(folder)
        assert pages
        assert [page.name for page in pages if f"]({page.name})" not in listed] == []


def test_every_decision_has_its_parts() -> None:
    for page in _pages("decisions"):
        text = page.read_text(encoding="utf-8")
        assert re.search(r"^Status: (accepted|superseded)", text, re.MULTILINE), page.name


def test_what_the_program_cites_exists() -> None:
    numbers = {page.name[:4] for page in _pages("decisions")}
    experiments = {page.stem for page in _pages("experiments")}
    cited = [
        match
        for folder in ("phiscan", "training", "benchmarks", "papers", "tests")
        for module in (ROOT / folder).rglob("*.py")
        for match in CITED.findall(module.read_text(encoding="utf-8"))
    ]
    assert cited
    assert [
        names for names in cited if names[0] not in numbers | {""} or names[1] not in experiments | {""}
    ] == []


def test_a_link_to_a_decision_names_its_number() -> None:
    wrong = [
        f"{page.relative_to(ROOT)}: decision {said} leads to {number}"
        for page in DOCS.rglob("*.md")
        for said, number in NUMBERED.findall(page.read_text(encoding="utf-8"))
        if int(said) != int(number)
    ]
    assert wrong == []
