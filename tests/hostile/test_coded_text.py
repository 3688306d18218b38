"""Hostile texts in codes: bombs, codes within codes, thousands of runs, damage; and hostile segments."""

import base64
import gzip
import random
import urllib.parse
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from phiscan.config import Limits
from phiscan.errors import ExtractError
from phiscan.extract import extract, extract_bytes
from phiscan.extract.ocr.picture_values import blocks
from phiscan.extract.pdf.objects import pdf_strings, repaired
from phiscan.extract.text_codes.recovery import coded_runs
from phiscan.model import FailReason, SourceFile

P = "Patient: Lena Okafor, MRN 40718823, congestive heart failure."
LIMITS = Limits(member_bytes=4 * 1024**2, member_count=200)


def test_a_bomb_in_a_code_meets_the_limits() -> None:
    bomb = base64.b64encode(gzip.compress(bytes(64 * 1024**2)))
    for text in (b"id,note,kind,x\n1," + bomb + b",a,b\n2,b,c,d\n3,b,c,d\n", b"<p>" + bomb + b"</p>"):
        try:
            reasons = {part.reason for part in extract_bytes(text, "a.csv", LIMITS).unread}
        except ExtractError as error:
            reasons = {FailReason(error.reason)}
        assert FailReason.TOO_LARGE in reasons


def test_codes_within_codes_end() -> None:
    text = P
    for _ in range(40):
        text = urllib.parse.quote(text)
    document = extract_bytes(text.encode(), "a.txt", LIMITS)
    assert len(document.text) < 10 * len(text)


def test_base64_within_base64_ends() -> None:
    data = (P + " Seen again.").encode()
    for _ in range(12):
        data = b"see " + base64.b64encode(data) + b"\n"
    document = extract_bytes(data, "a.txt", LIMITS)
    assert len(document.text) < 10 * len(data)


@pytest.mark.slow
def test_thousands_of_runs_are_cut_and_said() -> None:
    rows = b"".join(b"%d\t%s\n" % (n, base64.b64encode(f"{P} {n}".encode())) for n in range(6_000))
    document = extract_bytes(rows, "a.txt", Limits())
    assert [part.locator for part in document.unread] == ["#decoded"]
    assert document.text.count("Lena Okafor") >= 5_000


MARKS = (
    *(
        b"%41",
        b"\\x41",
        b"\\u0041",
        b"&#65;",
        b"=20",
        b"+AEE",
        b"4c ",
        b"0x4c, ",
        b"00000000: 4c4c ",
        b"<~",
        b"~>",
    ),
    *(
        b"TGVuYSBPa2Fmb3I=",
        b"{\\rtf1 ",
        b"}",
        b"%!PS",
        b"(",
        b")",
        b"\nM!!!!",
        b"eyJhbGciOiJub25lIn0.",
        b"a:: ",
        b"\\X41\\",
    ),
    *(
        b"(This file must be converted with BinHex 4.0)\n:",
        b":",
        b"begin 644 a\n",
        b"S113",
        b"x'4c",
        b"?a=b+c&d=e",
    ),
)


@pytest.mark.parametrize("seed", range(20))
def test_mixed_marks_give_no_error(seed: int) -> None:
    chance = random.Random(seed)
    text = b"".join(
        chance.choice(MARKS) * chance.randint(1, 30) if chance.random() < 0.8 else chance.randbytes(20)
        for _ in range(200)
    )
    runs = coded_runs(text)
    assert all(0 <= run.start < run.end <= len(text) for run in runs)
    assert all(first.end <= second.start for first, second in pairwise(runs))
    list(blocks(b"\x89PNG\r\n\x1a\n" + text))
    mixed = (
        b"%PDF-1.4\n1 0 obj\n<</Filter/ASCII85Decode>>stream\n" + text + b"endstream\nendobj\n%%EOF" + text
    )
    pdf = repaired(mixed)
    assert pdf is None or list(pdf_strings(pdf, mixed)) is not None


def test_a_segment_that_grows_while_it_is_read_is_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from phiscan.extract import reading  # noqa: PLC0415 (the module whose function is replaced)

    packed = gzip.compress(random.Random(3).randbytes(3_000))
    for number in range(3):
        (tmp_path / f"a.gz.{number + 1:03d}").write_bytes(packed[number * 1100 : (number + 1) * 1100])
    path = tmp_path / "a.gz.001"
    source = SourceFile.of(bytes(tmp_path), path.name.encode(), path.lstat())
    read: Callable[..., None] = reading._read

    def grow(*arguments: object) -> None:
        with (tmp_path / "a.gz.002").open("ab") as stream:
            stream.write(b"x")
        read(*arguments)

    monkeypatch.setattr(reading, "_read", grow)
    with pytest.raises(ExtractError, match=FailReason.CHANGED):
        extract(source, Limits())
