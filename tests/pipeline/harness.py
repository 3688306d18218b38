"""A small share of plain text, and the installed program run in a home of its own."""

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from phiscan.model import SourceFile
from tests.cli.program import invoke
from tests.waiting import wait_until

LETTER = """Lakeside Community Clinic
12 Harbour Road, Kingston, ON K7L 3N6    Tel 613-555-0142

Re: {first} {last}, born {born}, health card 1234 567 897

Dear Dr. Amara Velthuis,

Thank you for seeing this patient, who has had type 2 diabetes mellitus and hypertension since 2009.
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

    def scan(self, *arguments: str | Path, hidden: str = "\0") -> Any:
        """Scan whatever comes of it, and return the summary; ``hidden`` is in no output."""
        done = self.run("scan", *arguments, "--json", "--exit-zero")
        assert done.returncode == 0, done.stderr
        assert hidden not in done.stdout + done.stderr
        return json.loads(done.stdout)

    def start(self, *arguments: str | Path) -> subprocess.Popen[str]:
        """Begin a run in the background."""
        return subprocess.Popen(
            self.command(*arguments),
            env=self.environment(),
            cwd=self.home.parent,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def start_and_kill(self, *arguments: str | Path, when: Callable[[], bool]) -> None:
        """Begin a run, and kill it in its middle: as soon as something is so."""
        with self.start(*arguments) as process:
            wait_until(
                lambda: when() or process.poll() is not None,
                "the moment of the kill, or the end",
                ceiling_s=600,
            )
            process.kill()
        assert process.returncode == -signal.SIGKILL, "the run was over before it was killed"

    def same_key(self, other: "Tool") -> None:
        """Make the home with the key of another one, so that the keyed hashes can be compared."""
        self.home.mkdir(mode=0o700, parents=True)
        shutil.copy2(other.home / "key", self.home / "key")

    def has_written(self, secret: str) -> bool:
        """Tell whether any file of the home or the temporary folder holds a secret."""
        places = (path for folder in (self.home, self.temp) for path in folder.rglob("*"))
        return any(secret.encode() in path.read_bytes() for path in places if path.is_file())

    def scan_like_a_folder(self, url: str, folder: Path, secret: str) -> Any:
        """Scan a share, and what lies in it as a folder; return the summary, which is the same for both."""
        there, here = self.scan(url, hidden=secret), type(self)(self.home.parent / "local").scan(folder)
        same = ("crawled", "screened", "referred", "screened_positive", "bytes", "people_at_risk", "failed")
        assert {name: there[name] for name in same} == {name: here[name] for name in same}
        return there


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
            path.write_text(LETTER.format(first=first, last=last, born=born))
    return folder


def source_of(root: Path, path: str | Path) -> SourceFile:
    """Return a file below a root as the crawl does; ``path`` is relative to the root, or below it."""
    place = root / path
    return SourceFile.of(bytes(root), bytes(place.relative_to(root)), place.lstat())


def n_recorded(database: Path, table: str = "examination") -> int:
    """Count the rows of a table of a database so far; 0 while it is being made."""
    try:
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
            (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608 (our names)
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
