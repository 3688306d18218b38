"""The desk over a scanned share: no value reaches a browser without a reveal; no passage is kept."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

from phiscan.config import Config
from phiscan.model import Verdict
from phiscan.pipeline.rereading.masked_passages import MaskedProse
from phiscan.pipeline.rereading.reveal import Rereader
from phiscan.review.accounts import passwords
from phiscan.review.accounts.users import Role
from phiscan.review.decisions.writing import PURPOSES
from phiscan.review.store import Store
from phiscan.web.app import create_app
from phiscan.web.request_context import Desk
from tests.pipeline.harness import FIRST, LAST, ToolHere, write_share
from tests.web.conftest import PASSWORD, Browser

CANARIES = (*FIRST, *LAST, "1961", "1234 567", "897", "555-0142", "Velthuis", "Quillet")
NOTE = "Progress note. Mr. Quillet was seen with asthma and chest pain, takes salbutamol.\n"
NOW = datetime(2026, 11, 20, 8, 30, tzinfo=UTC)


@dataclass(frozen=True)
class Place:
    """A scanned share, and the desk over it."""

    tool: ToolHere
    store: Store
    share: Path
    visit: Browser

    @property
    def desk(self) -> Desk:
        desk: Desk = self.visit.app.state.desk  # type: ignore[attr-defined]
        return desk

    def items(self) -> list[int]:
        return [item.file_id for item in self.store.desk.items(viewer="lea", now=NOW).items]


@pytest.fixture(scope="module")
def scanned(warm: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:  # noqa: ARG001 (it must run)
    """Scan a share once, and return it and the home; every test works on a copy of the home."""
    folder = tmp_path_factory.mktemp("scanned")
    tool, share = ToolHere(folder / "home"), write_share(folder / "share", 11)
    (share / "note.txt").write_text(NOTE * 3)
    assert tool.run("init").returncode == 0
    done = tool.run("scan", share, "--exit-zero")
    assert done.returncode == 0, done.stderr
    return tool.home, share


@pytest.fixture
def place(
    scanned: tuple[Path, Path], tool_here: ToolHere, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Place]:
    monkeypatch.setattr(
        passwords, "_HASHER", PasswordHash((Argon2Hasher(time_cost=1, memory_cost=8, parallelism=1),))
    )
    home, share = scanned
    shutil.copytree(home, tool_here.home)
    contents = {path: path.read_bytes() for path in share.rglob("*.txt")}
    with Store.open(f"sqlite:///{tool_here.database}") as store:
        for name, role in (("lea", Role.LEAD), ("rea", Role.READER), ("aud", Role.AUDITOR)):
            store.users.add(name=name, role=role, password=PASSWORD, by="test", now=NOW)
        visit = Browser(create_app(store, Config(home=tool_here.home)))
        place = Place(tool_here, store, share, visit.sign_in("lea"))
        # The process that reads files again is started by the first that asks; no page waits for that.
        visit.get(f"/items/{place.items()[0]}/passages")
        yield place
        visit.__exit__()
        Browser.opened.remove(visit)
    for path, content in contents.items():
        if path.read_bytes() != content:
            path.write_bytes(content)


def shown(page: str) -> str:
    """Return a page without digests of our own files and random tokens, in which any digits may be."""
    return re.sub(r'/static/[0-9a-f]+/|(?:nonce|value)="[\w-]{16,}"', "", page)


def test_no_value_reaches_the_browser_without_a_reveal(place: Place) -> None:
    client, items = place.visit, place.items()
    assert items
    for number in items:
        for address in (f"/items/{number}", f"/items/{number}?prose=1", f"/items/{number}/passages"):
            answer = client.get(address)
            assert answer.status_code == 200
            assert answer.headers["cache-control"] == "no-store"
            assert not [one for one in CANARIES if one in shown(answer.text)], address
            assert "▒▒▒" in answer.text
        page = client.get(f"/items/{number}").text
        assert '<span class="health">metformin</span>' in page or "salbutamol" in page
        assert re.search(r'<a class="pill t-name" [^>]*data-type="PERSON">name</a>', page)
    assert place.visit.get(f"/items/{items[0]}/passages").text.count('class="passage"') >= 1
    for address in ("/folders", "/folders?root=1&folder=0", "/folders/decide?root=1&folder=0", "/incidents"):
        answer = client.get(address)
        assert answer.status_code == 200
        assert not [one for one in CANARIES if one in shown(answer.text)], address
    kept = [path for path in (*place.tool.temp.rglob("*"), *place.tool.home.rglob("*")) if path.is_file()]
    assert not [path for path in kept if b"takes metformin" in path.read_bytes()]


def test_the_first_screen_has_no_internals(place: Place) -> None:
    page = place.visit.get(f"/items/{place.items()[0]}").text
    first_screen = page.partition("<details")[0]
    assert "Evidence" in first_screen
    assert re.search(r'<p class="why">PHI with (over )?\d+% probability: .+\.</p>', first_screen)
    for internal in ("equation", "names.tagger", "written_lists", "prototype", "Nearest", "threshold"):
        assert internal not in first_screen


def test_a_passage_is_revealed_in_place_with_the_purpose_of_the_session(place: Place) -> None:
    client = place.visit
    number = place.store.find("0/file0000.txt")
    address = f"/items/{number}/passages/reveal"
    page = client.get(f"/items/{number}").text
    region = dict(re.findall(r'data-(start|end)="(\d+)"', page)[:2])
    refused = client.post(address, data=region)
    assert refused.status_code == 409
    assert "Torvald" not in refused.text
    assert client.post(address, data={**region, "purpose": "Torvald"}).status_code == 409
    shown = client.post(address, data={**region, "purpose": PURPOSES[0]})
    assert shown.status_code == 200
    assert shown.headers["cache-control"] == "no-store"
    assert re.search(r"<mark[^>]*>Torvald Karrowick</mark>", shown.text)
    again = client.post(address, data=region)  # asked once a session
    assert "Torvald" in again.text
    part = client.post(address, data={"start": 0, "end": 20}).text
    assert re.sub("<[^>]*>", "", part).strip() == (place.share / "0/file0000.txt").read_text()[:20]
    history = place.store.desk.history(number, viewer="lea")
    assert [(one.what, one.reason) for one in history] == [("reveal", PURPOSES[0])] * 3
    page = client.get(f"/items/{number}").text
    assert f"revealed the text: {PURPOSES[0]}" in page
    assert "Torvald" not in page
    assert f" selected>{PURPOSES[0]}</option>" in page
    place.visit.sign_in("aud")
    log = client.get("/log?action=reveal").text
    assert log.count(PURPOSES[0]) == 3
    assert "file0000.txt" in log
    assert "No entry." in client.get("/log?day=2020-01-01").text
    assert place.store.verify_audit().ok


def test_no_page_waits_for_the_reading_process_to_start(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"/items/{place.items()[0]}"
    assert "▒▒▒" in place.visit.get(address).text
    monkeypatch.setattr(Rereader, "is_ready", False)
    assert "▒▒▒" in place.visit.get(address).text  # what is in memory needs no process
    place.desk.passages.clear()
    page = place.visit.get(address).text
    assert "▒▒▒" not in page
    assert f'data-fetch="{address}/passages"' in page
    assert "Show the passages</a>" in page
    assert "▒▒▒" in place.visit.get(f"{address}?prose=1").text


def test_a_warm_item_is_not_read_again_and_a_touched_file_is(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = place.store.find("note.txt")
    address = f"/items/{number}/passages"
    before = place.visit.get(address).text
    asked: list[str] = []
    masked = Rereader.masked

    def counted(*arguments: Any, **options: Any) -> MaskedProse:
        asked.append("masked")
        return masked(*arguments, **options)

    monkeypatch.setattr(Rereader, "masked", counted)
    assert place.visit.get(address).text == before
    assert not asked
    (place.share / "note.txt").write_text(NOTE * 4)
    assert "has changed since it was examined" in place.visit.get(address).text
    assert asked == ["masked"]
    assert not [one for one in CANARIES if one in repr(place.desk.passages.__dict__)]


def test_the_process_is_made_ready_before_the_first_item(place: Place) -> None:
    place.desk.rereader.close()
    page = place.visit.get(f"/items/{place.items()[1]}").text
    assert "▒▒▒" not in page
    place.desk.rereader.prepare()
    assert "▒▒▒" in place.visit.get(f"/items/{place.items()[1]}").text


def test_who_may_not_reveal_gets_neither_passage_nor_text(place: Place) -> None:
    number = place.items()[0]
    place.visit.sign_in("rea")
    client = place.visit
    assert client.get(f"/items/{number}/passages").status_code == 403
    data = {"start": 0, "end": 50, "purpose": PURPOSES[0]}
    assert client.post(f"/items/{number}/passages/reveal", data=data).status_code == 403
    assert "▒▒▒" not in client.get(f"/items/{number}").text


def test_a_file_that_changed_shows_nothing(place: Place) -> None:
    client, number = place.visit, place.items()[0]
    path = place.share / place.store.desk.item(number, viewer="lea", now=NOW).path
    path.write_text(path.read_text() + "more")
    assert "has changed since it was examined" in client.get(f"/items/{number}").text
    data = {"start": 0, "end": 50, "purpose": PURPOSES[0]}
    answer = client.post(f"/items/{number}/passages/reveal", data=data)
    assert (answer.status_code, "Lakeside" in answer.text) == (409, False)


def test_a_blind_item_has_no_picked_passages(place: Place) -> None:
    place.store.desk.draw_sample(n_queued=1, n_unreferred=1, by="lea", now=NOW)
    items = place.store.desk.items(viewer="lea", now=NOW).items
    blind = [item.file_id for item in items if item.blind]
    assert len(blind) == 2
    client = place.visit
    for number in blind:
        assert client.get(f"/items/{number}/passages").status_code == 400
        page = client.get(f"/items/{number}?prose=1").text
        assert 'class="pill' not in page
        assert 'class="health"' not in page
        data = {"start": 0, "end": 4000, "purpose": PURPOSES[0]}
        shown = client.post(f"/items/{number}/passages/reveal", data=data).text
        assert "<mark" not in shown
        assert shown.strip()


def test_a_verdict_that_is_not_recorded_keeps_the_note(place: Place) -> None:
    client, number = place.visit, place.items()[0]
    seen = place.store.desk.item(number, viewer="lea", now=NOW).examination_id
    place.store.desk.decide(number, Verdict.NOT_PHI, reviewer="bob", now=datetime.now(UTC))
    form = {"verdict": "phi", "seen": seen, "token": "t", "reason": "message", "note": "the ward's list"}
    answer = client.post(f"/items/{number}/decide", data=form)
    assert answer.status_code == 409
    assert ">the ward&#39;s list</textarea>" in answer.text
    assert '<option value="message" selected>' in answer.text
    assert 'name="override" value="1"' in answer.text
    form |= {"override": "1", "reason": "no_person"}
    answer = client.post(f"/items/{number}/decide", data=form)
    assert answer.status_code == 409
    assert ">the ward&#39;s list</textarea>" in answer.text
    form |= {"reason": "message"}
    answer = client.post(f"/items/{number}/decide", data=form, headers={"accept": "application/json"})
    assert answer.json()["url"].endswith(f"done={number}")
    entry = place.store.desk.history(number, viewer="lea")[-1]
    assert (entry.who, entry.note) == ("lea", "the ward's list")


def test_the_page_says_where_in_the_list_the_item_is(place: Place) -> None:
    client, items = place.visit, place.items()
    assert len(items) > 2
    for at, number in enumerate(items, 1):
        page = client.get(f"/items/{number}").text
        assert f'<span id="position">{at} of {len(items)}</span>' in page
        assert page.count('aria-current="page"') == 1
        following = re.search(r'data-next="([^"]*)"', page)
        assert following
        assert [int(re.sub(r"\D", "", one)) for one in following[1].split()] == items[at : at + 3]
    page = client.get(f"/items/{items[0]}?state=phi").text
    assert "not in this list" in page
