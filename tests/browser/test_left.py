"""One day's history: desk, status line, terminal and report say the same two figures, in the same words."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from phiscan.model import Verdict
from phiscan.review.store import Store
from tests.browser.conftest import Seat, Server, Sit
from tests.pipeline.harness import ToolHere
from tests.review.samples import members

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800), pytest.mark.usefixtures("warm")]

LETTER = "Re: {name}, date of birth 1961-04-02, health card 3085-222-580-TU. Biopsy: invasive carcinoma.\n"
N_ARRIVED = 12


def command(server: Server, *arguments: str) -> str:
    done = ToolHere(server.home).run(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def plain(text: str) -> str:
    """Return a text with single ordinary spaces, as it is compared between page, terminal and report."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", text))


def agreed(server: Server, seat: Seat, folder: Path) -> dict[str, object]:
    """Compare every place that says the figures, and return them."""
    found = json.loads(command(server, "queue", "left", "--json"))
    assert json.loads(command(server, "estimate", "elusion", "--review", "--json")) == found
    report = json.loads(command(server, "report", "--out", str(folder), "--json"))
    assert report["remaining"] == found
    text = plain(command(server, "queue", "left"))
    left, missed = re.findall(r"(?:Left in the list|Missed in the rest): .*?\(95%\)\.", text)
    page = seat.go("/left")
    for place in (page.inner_text("main"), (folder / "report.html").read_text(encoding="utf-8")):
        assert left in plain(place)
        assert missed in plain(place)
        assert plain(found["why"]) in plain(place)
    uppers = found["left_in_list"]["upper"], found["missed_in_rest"]["upper"]
    words = "left in the list at most {}, missed in the rest at most {}; ".format(*uppers)
    assert words in plain(page.inner_text("#status")).replace("\N{NARROW NO-BREAK SPACE}", "")
    assert ("; safe to stop" in page.inner_text("#status")) is (found["safe"] or found["needed"] is not None)
    return dict(found)


def decide_drawn(store: Store, reviewer: str) -> None:
    for referred in (True, False):
        for number in members(store.database, referred=referred):
            verdict = Verdict.PHI if referred else Verdict.NOT_PHI
            store.desk.decide_all([(number, verdict)], reviewer=reviewer, opened=True, now=datetime.now(UTC))


def test_every_place_says_the_same_figures_on_one_days_history(
    server: Server, sit: Sit, tmp_path: Path
) -> None:
    lea, bob = sit("Lea"), sit("Bob")
    before = agreed(server, lea, tmp_path / "undrawn")
    assert (before["arrived_since_sample"], before["safe"]) == (None, False)
    page = lea.go("/left")
    page.click("summary:has-text('Draw one')")
    page.fill("[name=n_queued]", "8")
    page.fill("[name=n_unreferred]", "8")
    lea.click("form[action='/left/draw'] button")
    with server.store() as store:
        blind = sorted(store.blind())
    assert len(blind) == 16

    page = bob.go(f"/items/{blind[0]}")  # nothing is recorded until it is opened
    page.keyboard.press("n")
    page.wait_for_selector("text=you have not opened it")
    with server.store() as store:
        assert store.item(blind[0]).verdict is None
    page.select_option(".side [name=purpose]", index=1)
    bob.click("form[action$='/reveal'] button")
    page = bob.go(f"/items/{blind[0]}")
    bob.press("n")
    assert "is recorded as not PHI" in bob.said()
    assert "Blind review" not in bob.go(f"/items/{blind[0]}").inner_text("main")
    page = bob.go(f"/items/{blind[1]}")
    page.keyboard.press("b")
    bob.press("n")
    assert "Blind review" in bob.go(f"/items/{blind[1]}").inner_text("main")
    found = agreed(server, lea, tmp_path / "begun")
    assert (found["judged_by_name"], found["safe"]) == (1, False)

    with server.store() as store:
        decide_drawn(store, "Ann")
        assert (store.desk.left().by_name, store.desk.left().rest.arrived) == (0, 0)
    with server.store() as store:
        share = Path(store.queue(limit=1)[0].root)
    for number in range(N_ARRIVED):
        (share / f"biopsy {number}.txt").write_text(
            LETTER.format(name=f"Nora Quint{number}"), encoding="utf-8"
        )
    try:
        command(server, "scan", str(share), "--exit-zero")
    finally:
        for path in share.glob("biopsy *.txt"):
            path.unlink()
    found = agreed(server, lea, tmp_path / "arrived")
    assert (found["arrived_since_sample"], found["safe"]) == (N_ARRIVED, False)
    assert "12 files arrived since the sample" in str(found["why"])
    assert not lea.complaints
