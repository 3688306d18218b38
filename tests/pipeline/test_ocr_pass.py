"""Pictures are read after all text: what is referred first, what waits, and how it goes on."""

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont

from phiscan.config import Config, Limits
from phiscan.crawl import load_ignore
from phiscan.extract.ocr.recognition import languages
from phiscan.model import FailReason, FileResult, Outcome, Referral, SourceFile, UnreadPart
from phiscan.pipeline.ocr_pass import in_order, is_pending, within_budget
from phiscan.pipeline.result_recorder import Progress
from phiscan.pipeline.scan import scan
from phiscan.pipeline.scan_plan import ScanOptions
from phiscan.review.store import Store
from phiscan.store.identity import create_key
from tests.pipeline.harness import LETTER, MINUTES, ToolHere
from tests.pipeline.test_early_results import Held, run_scan

pytestmark = [
    pytest.mark.skipif(not languages(), reason="tesseract is not installed"),
    pytest.mark.usefixtures("warm"),
]


def _picture(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.new("L", (1700, 1100), 255)
    font = ImageFont.load_default(28)
    ImageDraw.Draw(image).multiline_text((60, 60), text, fill=0, font=font, spacing=14)
    image.save(path)


def _letter(last: str) -> str:
    return LETTER.format(first="Quenna", last=last, born="3 May 1961")


@pytest.fixture
def share(tmp_path: Path) -> Path:
    """Two pictures, which come first in the crawl, and a letter in text, which comes last."""
    folder = tmp_path / "share"
    _picture(folder / "a" / "photo.png", MINUTES.format(n=2))
    _picture(folder / "b" / "scan of letter.png", _letter("Ostriba"))
    (folder / "z").mkdir()
    (folder / "z" / "letter.txt").write_text(_letter("Karrowick"))
    return folder


def _config(tmp_path: Path) -> Config:
    config = Config(home=tmp_path / "home", workers=1, limits=Limits(ocr_s=300))  # on a busy machine
    create_key(config.key_file)
    return config


def _source(path: bytes) -> SourceFile:
    return SourceFile(b"/share", path, 1, 1, 1, 1, 1)


def _scan(tool: ToolHere, share: Path, *options: str) -> Any:
    return tool.scan(share, "--workers", "1", *options)


def _outcomes(tool: ToolHere) -> dict[str, str]:
    with sqlite3.connect(tool.database) as connection:
        query = """select file.display, coalesce(examination.referral, examination.outcome) from file
            join sighting on sighting.file_id = file.id and sighting.scan_id = file.seen_scan_id
            join examination on examination.id = sighting.examination_id"""
        return dict(connection.execute(query).fetchall())


@pytest.mark.slow
def test_first_referral_is_recorded_before_ocr_of_anything_begins(tmp_path: Path, share: Path) -> None:
    config = _config(tmp_path)
    events: list[str] = []
    referred_at_begin: list[int] = []
    n_failed: list[int] = []
    with Store.open(config.database_url, create=True) as store:

        def note(progress: Progress) -> None:
            n_failed.append(progress.n_failed)
            if progress.n_referred and "referred" not in events:
                events.append("referred")
            if progress.n_ocr and "ocr" not in events:
                assert progress.n_ocr_read == 0
                events.append("ocr")
                with sqlite3.connect(config.home / "phiscan.db") as connection:
                    query = "select count(*) from examination where referral = 'referred'"
                    referred_at_begin.extend(connection.execute(query).fetchone())

        ignore = load_ignore(config, [])
        run = scan(config, [bytes(share)], store, ignore=ignore, on_progress=note)
    assert events == ["referred", "ocr"]
    assert referred_at_begin == [1]  # in the database, where the queue looks
    assert (max(n_failed), n_failed[-1]) == (2, 0)  # what the second pass reads did not fail
    assert run.summary.referred == 2
    assert (run.ocr.n_read, run.ocr.n_waiting) == (2, 0)


@pytest.mark.slow
def test_never_leaves_pictures_waiting_and_the_next_scan_reads_them(tmp_path: Path, share: Path) -> None:
    tool = ToolHere(tmp_path / "home")
    first = _scan(tool, share, "--ocr", "never")
    assert first["ocr"]["files_waiting"] == 2
    assert first["ocr"]["parts_waiting"] == 2
    assert first["failed"] == {"needs_ocr": 2}
    assert first["referred"] == 1
    again = _scan(tool, share, "--ocr", "never")
    assert again["ocr"]["files_waiting"] == 2
    after = _scan(tool, share)
    assert after["ocr"]["files_read"] == 2
    assert after["ocr"]["files_waiting"] == 0
    assert after["referred"] == 2
    assert after["failed"] == {}
    assert _outcomes(tool)["b/scan of letter.png"] == "referred"
    last = _scan(tool, share)
    assert last["ocr"]["files_read"] == 0
    assert last["unchanged"] == 3


@pytest.mark.slow
def test_now_and_after_come_to_the_same(tmp_path: Path, share: Path) -> None:
    now, after = ToolHere(tmp_path / "home"), ToolHere(tmp_path / "home2")
    said = _scan(now, share, "--ocr", "now")
    assert said["ocr"]["files_read"] == 0
    _scan(after, share, "--ocr", "after")
    assert _outcomes(now) == _outcomes(after)


@pytest.mark.slow
def test_budget_that_is_used_up_leaves_the_rest_to_the_next_scan(tmp_path: Path, share: Path) -> None:
    tool = ToolHere(tmp_path / "home")
    first = _scan(tool, share, "--ocr-budget", "1e-9")
    assert (first["ocr"]["files_read"], first["ocr"]["files_waiting"]) == (0, 2)
    assert _scan(tool, share)["referred"] == 2


@pytest.mark.slow
def test_interrupted_second_pass_goes_on_where_it_stopped(tmp_path: Path, share: Path) -> None:
    config = _config(tmp_path)
    ignore = load_ignore(config, [])

    def stop(progress: Progress) -> None:
        if progress.n_ocr_read == 1:
            raise KeyboardInterrupt

    with Store.open(config.database_url, create=True) as store:
        with pytest.raises(KeyboardInterrupt):
            scan(config, [bytes(share)], store, ignore=ignore, on_progress=stop)
        run = scan(config, [bytes(share)], store, ignore=ignore, options=ScanOptions())
    assert run.resumed
    assert run.ocr.n_read == 1  # the other one was recorded before the stop
    assert (run.summary.referred, run.ocr.n_waiting) == (2, 0)


class _Stopped(Held):
    """Answers all files but the first, and is then interrupted."""

    def run(self, sources: Iterable[SourceFile]) -> Iterator[tuple[SourceFile, FileResult]]:
        yield from super().run(list(sources)[1:])
        raise KeyboardInterrupt


@pytest.mark.slow
def test_resumed_scan_reads_the_pictures_of_results_kept_aside(tmp_path: Path, share: Path) -> None:
    home = _config(tmp_path).home
    with pytest.raises(KeyboardInterrupt):
        run_scan(home, share, _Stopped(hold=False))
    crew = Held(hold=False)
    run_scan(home, share, crew)
    # The scanned letter was kept aside, as the photo before it had no result; the second pass reads it.
    assert sorted(crew.asked) == [b"a/photo.png", b"a/photo.png", b"b/scan of letter.png"]


def test_order_is_neighbours_of_referred_files_then_names_then_documents() -> None:
    paths = [b"x/photo.jpg", b"x/a.pdf", b"x/fax 3.jpg", b"clinic/photo.jpg"]
    found = in_order([_source(path) for path in paths], {(b"/share", b"clinic")})
    assert [one.path for one in found] == [b"clinic/photo.jpg", b"x/fax 3.jpg", b"x/a.pdf", b"x/photo.jpg"]
    assert not any(one.without_ocr for one in found)


def test_budget_is_asked_before_each_file() -> None:
    times = iter([0.0, 1.0, 4.0, 5.0])
    sources = [_source(b"a"), _source(b"b"), _source(b"c")]
    assert list(within_budget(sources, 5.0, lambda: next(times))) == sources[:2]
    assert list(within_budget(sources, None)) == sources


def test_referred_file_needs_no_more_pages() -> None:
    unread = (UnreadPart("#p3", FailReason.NEEDS_OCR, "not yet read by OCR"),)
    clear = FileResult(_source(b"a"), Outcome.SCREENED, unread=unread, referral=Referral.CLEAR)
    referred = FileResult(_source(b"a"), Outcome.SCREENED, unread=unread, referral=Referral.REFERRED)
    assert is_pending(clear)
    assert not is_pending(referred)
