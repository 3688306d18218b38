"""Every command is documented, and the page says what the program says."""

import re

import click
import pytest

from tests.docs.generated import DOCS, script

PAGES = [DOCS.parent / "README.md", DOCS.parent / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
ROOTS = "phiscan|papers|training|benchmarks|tests|dictionaries|patterns|scripts|compose|docs"
COMMANDS = [(ctx.command_path, command) for ctx, command in script("make_commands").all_commands()]


@pytest.mark.parametrize(("words", "command"), COMMANDS, ids=[words for words, _ in COMMANDS])
def test_command_has_help_and_an_example(words: str, command: click.Command) -> None:
    assert command.help, f"{words} has no help"
    assert all(p.help for p in command.params if isinstance(p, click.Option)), (
        f"{words}: an option without help"
    )
    if not isinstance(command, click.Group):
        shown = f"{command.help} {command.epilog or ''}"
        assert words in shown, f"{words} shows no example of its use"


def test_every_link_of_the_documentation_leads_somewhere() -> None:
    broken = [
        f"{page.relative_to(DOCS.parent)}: {target}"
        for page in PAGES
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert broken == []


def test_every_heading_that_a_link_names_exists() -> None:
    headings = {
        page.resolve(): {
            re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
            for heading in re.findall(r"(?m)^#+ (.+)$", page.read_text(encoding="utf-8"))
        }
        for page in PAGES
    }
    broken = [
        f"{page.name}: {target}#{heading}"
        for page in PAGES
        for target, heading in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", page.read_text(encoding="utf-8"))
        if heading not in headings.get((page.parent / target if target else page).resolve(), {heading})
    ]
    assert broken == []


def test_every_file_that_a_page_names_exists() -> None:
    missing = [
        f"{page.relative_to(DOCS.parent)}: {name}"
        for page in PAGES
        for name in re.findall(rf"`((?:{ROOTS})/[\w./-]*)`", page.read_text(encoding="utf-8"))
        if not (DOCS.parent / name).exists() and "LANGUAGE" not in name
    ]
    assert missing == []


def test_every_command_that_a_page_shows_exists() -> None:
    """Look up the commands and options of indented lines and of words in backticks."""
    known = {words.removeprefix("phiscan "): command for words, command in COMMANDS}
    wrong = []
    for page in PAGES:
        shown = re.findall(
            r"(?m)(?:^ {4,}(?:\$ )?(?:[\w./]*/)?|`)phiscan ([a-z][^\n`#|]*)", page.read_text(encoding="utf-8")
        )
        for line in shown:
            words = line.split()
            name = next((name for n in (3, 2, 1) if (name := " ".join(words[:n])) in known), None)
            if name is None:
                wrong.append(f"{page.name}: phiscan {line}")
                continue
            taken = {word for one in known[name].params for word in (*one.opts, *one.secondary_opts)}
            options = set(re.findall(r"(?<!\S)--[a-z][\w-]*", line))
            wrong += [f"{page.name}: phiscan {name} {word}" for word in options - taken - {"--help"}]
    assert wrong == []
