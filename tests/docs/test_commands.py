"""Every command is documented, and the page says what the program says."""

import re

import click
import pytest

from tests.docs.generated import DOCS, script

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
    pages = [DOCS.parent / "README.md", *DOCS.rglob("*.md")]
    broken = [
        f"{page.relative_to(DOCS.parent)}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert broken == []


def test_every_decision_is_listed() -> None:
    listed = (DOCS / "decisions/README.md").read_text(encoding="utf-8")
    missing = [p.name for p in (DOCS / "decisions").glob("0*.md") if p.name not in listed]
    assert missing == []
