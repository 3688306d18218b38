"""phiscan extract and phiscan doctor, as a user runs them."""

import json
import os
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from phiscan.cli.extract import _line
from phiscan.extract.archives.segments import PART
from phiscan.model import Document
from tests.cli.program import invoke

pytestmark = pytest.mark.usefixtures("home")


def test_extract_prints_one_json_line_per_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Ann Roy\n")
    (tmp_path / "b.zip").write_bytes(b"PK\x03\x04 broken")
    (tmp_path / "empty.txt").touch()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("a.txt")
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as archive:
        archive.writestr("in.txt", "Lena Okafor")
    done = invoke("extract", "a.txt", "b.zip", "c.zip", "empty.txt", "pipe", "link", "--json")
    assert done.exit_code == 3
    a, b, c, empty, pipe, link = map(json.loads, done.stdout.splitlines())
    assert {"path", "media_type", "outcome", "reason", "text", "segments", "seconds"} <= set(a)
    assert (a["path"], a["outcome"], a["text"]) == ("a.txt", "screened", "Ann Roy\n\n")
    assert (b["outcome"], b["reason"], b["text"]) == ("failed", "corrupt", "")
    assert c["segments"] == [{"locator": "in.txt", "start": 0, "end": 11}]
    assert (empty["outcome"], empty["reason"]) == ("skipped", "empty")
    assert (pipe["outcome"], pipe["reason"]) == ("skipped", "not_regular")
    assert (link["outcome"], link["reason"]) == ("skipped", "symlink")


def test_extract_prints_the_text_alone_without_json(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Ann Roy")
    done = invoke("extract", "a.txt")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "Ann Roy\n", "")


def test_extract_says_which_file_a_later_segment_is_read_with() -> None:
    part = Document("", (), PART)
    assert "extract that file" in _line("x/disk.img.002", (part, 0.1))["detail"]
    assert "part of disk.img.001:" in _line("x/disk.img.002", (part, 0.1))["detail"]
    assert "part of a.zip:" in _line("a.z01", (part, 0.1))["detail"]
    assert _line("a.txt", (replace(part, media_type="text/plain"), 0.1))["detail"] == ""


def test_extract_names_a_missing_file() -> None:
    done = invoke("extract", "nowhere.txt", "--json")
    assert done.exit_code == 2
    assert done.stdout == ""
    assert "nowhere.txt" in done.stderr


def test_extract_uses_the_limits_of_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "phiscan.toml").write_text("[limits]\nfile_bytes = 10\n")
    (tmp_path / "a.txt").write_text("more than ten bytes")
    line = json.loads(invoke("extract", "a.txt", "--json").stdout)
    # A larger text is read in windows, and what lies between them is said.
    assert (line["outcome"], {part["reason"] for part in line["unread"]}) == ("screened", {"sampled"})


def test_doctor_tries_every_reader() -> None:
    done = invoke("doctor", "--json")
    assert done.exit_code == 0
    report = json.loads(done.stdout)
    parts = {part["name"]: part for part in report["parts"]}
    assert {"pypdfium2", "python-calamine", "lxml", "tesseract", "readpst"} <= set(parts)
    assert all(part["works"] for part in parts.values() if not part["optional"])
    assert all(part["lost_without"] for part in parts.values())


def test_doctor_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = invoke("doctor")
    assert done.exit_code == 0
    line = next(line for line in done.stdout.splitlines() if "tesseract" in line)
    assert line.startswith("MISSING")
    assert "needs_ocr" in line
