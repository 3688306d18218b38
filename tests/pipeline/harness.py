"""A small share of plain text, and the installed program run in a home of its own."""

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from phiscan.model import SourceFile
from tests.cli.program import invoke

LETTER = """Lakeside Community Clinic
12 Harbour Road, Kingston, ON K7L 3N6    Tel 613-555-0142

Re: {first} {last}, born {born}, health card {card}

Dear Dr. Amara Velthuis,

Thank you for seeing this patient, who has had type 2 diabetes mellitus and hypertension since {year}.
The patient takes metformin 500 mg twice daily and complains of chest pain on exertion. Blood pressure was
150/95. I would be grateful for an echocardiogram and your opinion on treatment.
"""
MINUTES = "Minutes of the parking committee. The gate on level {n} is to be repaired by spring.\n"
PACED = ("--max-files-per-s", "50")  # a scan that is killed in its middle, however fast the machine is
# Names that stand in no gazetteer, made of two lists of syllables.
FIRST = ["Torvald", "Quenna", "Bristil", "Ommery", "Zantho"]
LAST = ["Karrowick", "Vandelune", "Ostriba", "Jellicorn", "Prathewin"]


@dataclass(frozen=True)
class Tool:
    """Runs the installed program in its own home."""

    home: Path

    def environment(self) -> dict[str, str]:
        return {**os.environ, "PHISCAN_HOME": str(self.home), "TMPDIR": str(self.temp)}

    @property
    def temp(self) -> Path:
        path = self.home.parent / (self.home.name + ".tmp")
        path.mkdir(exist_ok=True)
        return path

    @property
    def database(self) -> Path:
        return self.home / "phiscan.db"

    def command(self, *arguments: str | Path) -> list[str]:
        return [sys.executable, "-m", "phiscan", *map(str, arguments)]

    def run(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments),
            env=self.environment(),
            cwd=self.home.parent,
            capture_output=True,
            text=True,
            timeout=1200,  # on a busy machine; a test's own limit is pytest's
            check=False,
        )

    def scan(self, *arguments: str | Path) -> Any:
        """Scan whatever comes of it, and return the summary."""
        done = self.run("scan", *arguments, "--json", "--exit-zero")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


class ToolHere(Tool):
    """Runs the program in the test's own process: what it imports and loads is loaded once for all tests.

    Its workers are processes as always; the fixture ``warm`` lets the scans of many tests fork them from one
    server.
    """

    def run(self, *arguments: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run ``main`` with the environment and the folder of a program of its own."""
        words = [str(argument) for argument in arguments]
        with pytest.MonkeyPatch.context() as patch, contextlib.chdir(self.home.parent):
            for name, value in self.environment().items():
                patch.setenv(name, value)
            patch.setattr(tempfile, "tempdir", str(self.temp))
            result = invoke(*words, stdin=stdin)
        return subprocess.CompletedProcess(words, result.exit_code, result.stdout, result.stderr)


def write_share(folder: Path, n_files: int, *, distinct: bool = False) -> Path:
    """Write a share of plain text files, a letter about a patient among every ten.

    Beyond 250 files some letters are equal, and which of them is screened and which takes over its results
    depends on the order of the workers' answers; ``distinct``: no two files are equal.
    """
    for number in range(n_files):
        path = folder / f"{number % 7}" / f"file{number:04d}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        if number % 10:
            path.write_text(MINUTES.format(n=number))
        else:
            letter = number // 10
            first, last = FIRST[letter % 5], LAST[letter // 5 % 5]
            born = f"{letter % 28 + 1} May {1931 + letter // 28}" if distinct else "3 May 1961"
            path.write_text(LETTER.format(first=first, last=last, born=born, card="1234 567 897", year=2009))
    return folder


def source_of(root: Path, path: str | Path) -> SourceFile:
    """Return a file below a root as the crawl does; ``path`` is relative to the root, or below it."""
    place = root / path
    return SourceFile.of(bytes(root), bytes(place.relative_to(root)), place.lstat())


def n_recorded(database: Path) -> int:
    """Count the examinations in a database so far; 0 while it is being made."""
    try:
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
            (count,) = connection.execute("SELECT count(*) FROM examination").fetchone()
    except sqlite3.OperationalError:
        return 0
    return int(count)


def processes_of(tool: Tool) -> list[int]:
    """Find the running processes that were started for this tool's home, children of children too."""
    mark = f"PHISCAN_HOME={tool.home}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue  # went away, or is not ours
    return found
