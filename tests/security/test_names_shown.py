"""File names that a terminal, a browser or a spreadsheet would obey, in what commands print and write."""

import json
import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from phiscan.visible import json_text

# ESC and BEL (C0), CSI (C1), right-to-left override, line separator, delete.
COMMANDS = ("\x1b", "\x07", "\x9b", "\u202e", "\u2028", "\x7f")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("indent", [None, 1])
def test_json_has_no_character_that_a_terminal_obeys(command: str, indent: int | None) -> None:
    value = {f"a{command}": [f"Zoë{command}2J", "\U000e0001"], "n": 1}
    text = json_text(value, indent=indent)
    assert json.loads(text) == value
    assert "Zoë" in text
    assert text.replace("\n", "").isprintable()


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_neither_name_nor_text_is_a_command_for_the_terminal_that_shows_it(
    tmp_path: Path, options: list[str]
) -> None:
    files = []
    for number, command in enumerate(COMMANDS):
        file = tmp_path / f"a{command}2J.txt"
        # A line of the text that is all one command would make the file no text.
        file.write_text(f"Dear\tMs. {number}{command}2J, thank you for your letter.\nYours\n" * 20)
        files.append(str(file))
    leader, terminal = pty.openpty()
    with os.fdopen(leader, "rb", buffering=0) as screen:
        process = subprocess.Popen(
            [sys.executable, "-m", "phiscan", "extract", *files, *options],
            stdout=terminal,
            stderr=terminal,
            env=os.environ | {"PHISCAN_HOME": str(tmp_path / "home")},
        )
        os.close(terminal)
        shown = b""
        with suppress(OSError):  # the terminal is gone with the last process that had it
            while chunk := screen.read(65536):
                shown += chunk
        process.wait()
    text = shown.decode().replace("\r\n", "\n")
    assert text.count("Dear") > len(COMMANDS)
    assert text.replace("\n", "").replace("\t", "").isprintable()
