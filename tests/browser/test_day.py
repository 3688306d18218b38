"""A whole day at the desk: with the keyboard, without a script, and on a phone."""

import io
import re
import zipfile
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Error, Page

from phiscan.review.decisions.learning import Mark
from phiscan.review.decisions.writing import PURPOSES
from tests.browser.conftest import Seat, Server, Sit
from tests.browser.share import SURNAME

pytestmark = pytest.mark.slow

N_DECIDED = 20
KEYS = "pnupnnuppn" * 2
VERDICTS = {"p": "phi", "n": "not_phi", "u": "unsure"}
PHONE_WIDTH = 390
PHONE = {"viewport": {"width": PHONE_WIDTH, "height": 844}, "has_touch": True, "is_mobile": True}
PACKED_S = 120_000


def number_of(path: str) -> int:
    found = re.match(r"/items/([0-9]+)", path)
    assert found, path
    return int(found[1])


def standing(server: Server) -> dict[int, str]:
    with server.store() as store:
        return {item.file_id: item.verdict.value for item in store.queue() if item.verdict}


def second_review(server: Server, share: float) -> None:
    with server.store() as store:
        store.desk.set_policy(second_review=share, hide_limit=20, by="test", now=datetime.now(UTC))


def referral_letter(server: Server) -> int:
    with server.store() as store:
        return store.find("Clinics/Cardiology/2024/referral-0312.docx")


def is_alone(server: Server, number: int) -> bool:
    """Tell whether a file has no near-duplicates, which would be judged blind together with it."""
    with server.store() as store:
        return store.desk.item(number, viewer="", now=datetime.now(UTC)).group_id is None


def verdict_button(verdict: str) -> str:
    return f"#verdict-form button[value={verdict}]"


def decide_all(seat: Seat, press: Callable[[str], str]) -> dict[int, str]:
    """Decide twenty items one after the other; return what was meant."""
    meant = {}
    for key in KEYS:
        meant[number_of(seat.page.url.removeprefix(seat.url))] = VERDICTS[key]
        press(key)
        assert "is recorded as" in seat.said()
    return meant


def settle(server: Server, sit: Sit, decided: dict[int, str], **options: object) -> None:
    """Let a second person disagree with one verdict, and a lead settle it."""
    bob = sit("Bob", **options)
    case = next(
        number for number, verdict in decided.items() if verdict == "phi" and is_alone(server, number)
    )
    page = bob.go(f"/items/{case}")
    assert "undecided" in page.inner_text(".facts")
    # Of the page without the names of colleagues to whom a comment can be.
    page.evaluate("[...document.querySelectorAll('main select')].forEach(one => one.remove())")
    shown = page.inner_text("main")
    assert not re.search(r"\bAnn\b", shown), "the first verdict is not to be seen"
    assert page.locator("main [aria-pressed]").count() == 0
    bob.click(verdict_button("not_phi"))
    lea = sit("Lea", **options)
    page = lea.go("/adjudication")
    assert {"Ann", "Bob"} <= set(page.inner_text(".sides").split())
    path = lea.click(".case button[value=not_phi]")
    assert path == "/adjudication?said=settled"
    assert standing(server)[case] == "not_phi"
    assert "Nothing to adjudicate" in page.inner_text("main")
    assert "adjudicated it" in lea.go(f"/items/{case}").inner_text(".timeline")


def left_in_a_folder(server: Server, decided: dict[int, str]) -> int:
    """Return an undecided item of some folder: what would hold on a whole share waits for a lead."""
    left = (item for item in server.store().queue() if item.file_id not in decided)
    return next(item.file_id for item in left if "/" in item.path)


def suppress_and_lift(seat: Seat, server: Server, case: int) -> None:
    """Hide a value in its folder, see that the item left the queue, and take that back."""
    page = seat.go(f"/items/{case}/suppress")
    for box in page.locator("[name=what][value^=value-]").all():
        box.check()
    seat.click("text=Count what it would hide")
    assert "It would hide" in page.inner_text("main")
    page.fill("[name=reason]", "the clinic's own name")
    path = seat.click("section button.primary")
    assert path in {"/suppressions?said=suppressed", "/suppressions?said=waiting"}
    with server.store() as store:
        made = store.desk.suppressions(now=datetime.now(UTC))
    assert made
    assert {(one.reason, one.status) for one in made} == {("the clinic's own name", "active")}
    for _ in made:
        seat.click("form[action$='/lift'] button >> nth=0")
    with server.store() as store:
        made = store.desk.suppressions(now=datetime.now(UTC))
    assert {one.status for one in made} == {"lifted"}
    assert all(one.lifted_by == one.made_by for one in made)


def download_pack(seat: Seat) -> zipfile.ZipFile:
    """Make the audit pack and download it."""
    page = seat.go("/reports")
    seat.click("text=Make it")
    link = page.locator("table a")
    for _ in range(PACKED_S // 1000):
        if link.count():
            break
        page.wait_for_timeout(1000)
        page.goto(seat.url + "/reports")
    with page.expect_download() as download:
        link.first.click()
    return zipfile.ZipFile(io.BytesIO(download.value.path().read_bytes()))


def test_by_keyboard(server: Server, sit: Sit) -> None:
    second_review(server, 1.0)
    ann = sit("Ann")
    page = ann.page
    assert page.url.endswith("/queue")
    ann.press("o")
    meant = decide_all(ann, ann.press)
    assert len(meant) == N_DECIDED
    assert standing(server) == meant

    # Undo takes back the very last one, and shows it; undoing once more, the one before.
    last = list(meant)[-1]
    assert number_of(ann.press("z")) == last
    assert standing(server) == {number: verdict for number, verdict in meant.items() if number != last}
    ann.press("p")
    assert standing(server)[last] == "phi"
    meant[last] = "phi"

    # A key in a field is a letter.
    page.fill("#verdict-form textarea", "")
    page.focus("#verdict-form textarea")
    page.keyboard.type("p n u s z ?")
    assert page.input_value("#verdict-form textarea") == "p n u s z ?"
    page.keyboard.press("Escape")
    path = ann.press("s")
    assert "said=skipped" in path
    here = number_of(path)
    assert number_of(ann.press("j")) != here
    assert number_of(ann.press("k")) == here

    # Keys can be switched off, and then do nothing; the switch outlives the page.
    page.keyboard.press("?")
    page.uncheck("#keys-on")
    page.click("#keys button")
    before = page.url
    page.keyboard.press("p")
    page.wait_for_timeout(300)
    assert page.url == before
    page.reload()
    page.click("[data-help]")
    assert not page.is_checked("#keys-on")
    page.check("#keys-on")
    page.click("#keys button")
    page.keyboard.press("?")
    assert page.is_visible("#keys")
    page.keyboard.press("Escape")

    correct_while_revealed(ann, server)
    settle(server, sit, meant)
    suppress_and_lift(ann, server, left_in_a_folder(server, meant))
    with download_pack(sit("Lea")) as pack:
        assert {"report.html", "report.json", "files.csv"} <= set(pack.namelist())
        assert pack.testzip() is None
        assert not any(SURNAME.encode() in pack.read(name) for name in pack.namelist())
    with server.store() as store:
        assert store.verify_audit().ok
    assert ann.complaints == []


def correct_while_revealed(seat: Seat, server: Server) -> None:
    """Reveal a letter; judge a finding by pressing it, and mark what was missed by selecting it."""
    case = referral_letter(server)
    page = seat.go(f"/items/{case}")
    assert "Kowalski" not in page.content()
    page.select_option("[name=purpose]", PURPOSES[1])
    with page.expect_response("**/reveal") as answered:
        seat.click("text=Reveal for")
    assert answered.value.headers["cache-control"] == "no-store"
    assert answered.value.headers["refresh"].startswith("125; url=/items/")
    assert "Kowalski" in page.inner_text(".reading")
    page.click("mark >> text=Shauna Kowalski")
    page.click("#correct button[value=right]")
    page.wait_for_function("() => document.getElementById('said').textContent === 'Recorded.'")
    chosen = page.evaluate(
        """() => {
            const reading = document.querySelector('.reading');
            const walker = document.createTreeWalker(reading, NodeFilter.SHOW_TEXT);
            while (walker.nextNode()) {
                const at = walker.currentNode.textContent.indexOf('metformin');
                if (at < 0) continue;
                const range = document.createRange();
                range.setStart(walker.currentNode, at);
                range.setEnd(walker.currentNode, at + 'metformin'.length);
                document.getSelection().removeAllRanges();
                document.getSelection().addRange(range);
                reading.dispatchEvent(new MouseEvent('mouseup'));
                return true;
            }
            return false;
        }"""
    )
    assert chosen
    page.wait_for_function("() => document.querySelector('#missed [name=start]').value !== ''")
    page.select_option("#missed [name=entity_type]", "OTHER_ID")
    page.evaluate("() => { document.getElementById('said').textContent = ''; }")
    page.click("#missed button")
    page.wait_for_function("() => document.getElementById('said').textContent === 'Recorded.'")
    with server.store() as store:
        said = store.desk.corrections(case).spans
    assert Counter(one.mark for one in said) == {Mark.RIGHT: 1, Mark.MISSED: 1}
    (missed,) = (one.span for one in said if one.mark is Mark.MISSED)
    assert page.locator(".reading").inner_text()
    assert missed.n_chars == len("metformin")

    # The position counts code points of the text that the machine read.
    start = page.evaluate(
        """() => {
            let n = 0;
            for (const block of document.querySelectorAll('.reading [data-start]')) {
                const at = block.textContent.indexOf('metformin');
                if (at >= 0) return Number(block.dataset.start) + [...block.textContent.slice(0, at)].length;
            }
            return null;
        }"""
    )
    assert missed.start == start

    # It masks itself: by key, and when its time is over.
    path = seat.press("r")
    assert "said=masked" in path
    assert "Kowalski" not in page.content()
    with pytest.raises(Error, match="ERR_CACHE_MISS"):  # nothing was kept to go back to
        page.go_back()
    page.wait_for_load_state()
    with server.store() as store:
        assert [entry.what for entry in store.desk.history(case, viewer="Ann")].count("reveal") == 1


def test_the_revealed_text_masks_itself(server: Server, sit: Sit) -> None:
    ann = sit("Ann")
    ann.page.clock.install()
    page = ann.go(f"/items/{referral_letter(server)}")
    page.select_option("[name=purpose]", PURPOSES[0])
    ann.click("text=Reveal for")
    page.clock.run_for(100_000)
    assert "Kowalski" in page.content()
    with page.expect_navigation():
        page.clock.run_for(25_000)
    assert "said=masked" in page.url
    assert "Kowalski" not in page.content()


def correct_without_a_script(seat: Seat, server: Server) -> None:
    """Judge a finding, add a missed one by its characters, correct the topics, and look at the text."""
    page = seat.page
    case = referral_letter(server)
    seat.go(f"/items/{case}")
    page.click("summary >> text=Findings in place")
    seat.click(".shape.t-name >> nth=1")
    seat.click("#finding button[value=spurious]")
    page.click("summary >> text=Correct the spans")
    form = page.locator("form:has(input[name=mark][value=missed])")
    form.locator("[name=start]").fill("3")
    form.locator("[name=end]").fill("9")
    form.locator("[name=entity_type]").select_option("PERSON")
    with page.expect_navigation():
        form.locator("button").click()
    page.click("summary >> text=Correct the spans")
    seat.click("text=All spans checked")
    page.click("summary >> text=Topics >> nth=0")
    page.click("summary >> text=Correct the topics")
    page.check("text=Nervous system")
    seat.click("text=Record the topics")
    with server.store() as store:
        said = store.desk.corrections(case)
    assert Counter(one.mark for one in said.spans) == {Mark.SPURIOUS: 1, Mark.MISSED: 1}
    assert said.complete
    assert "Nervous system" in (said.topics or ())

    page.select_option("[name=purpose]", PURPOSES[0])
    with page.expect_response("**/reveal") as answered:
        seat.click("text=Reveal for")
    assert "refresh" in answered.value.headers
    assert "Kowalski" in page.content()
    seat.click("text=Mask it now")
    assert "Kowalski" not in page.content()


def test_without_a_script(server: Server, sit: Sit) -> None:
    second_review(server, 1.0)
    plain = {"java_script_enabled": False}
    ann = sit("Ann", **plain)
    page = ann.page
    ann.click("text=Start reviewing")
    meant = decide_all(ann, lambda key: ann.click(verdict_button(VERDICTS[key])))
    assert len(meant) == N_DECIDED
    assert standing(server) == meant
    last = list(meant)[-1]
    assert number_of(ann.click(".flash >> text=Undo")) == last
    assert last not in standing(server)
    ann.click(verdict_button("phi"))
    meant[last] = "phi"
    assert "said=skipped" in ann.click("button[data-key=s]")

    correct_without_a_script(ann, server)
    ann.go("/queue")
    page.click("summary >> text=Filter and order")
    left = [item for item in server.store().queue() if item.file_id not in meant]
    page.fill("[name=folder]", left[-1].path.partition("/")[0])  # a folder where something is left to do
    ann.click("text=Show >> nth=0")
    names = page.locator("tbody tr").count()
    assert 0 < names < len(server.store().queue())
    page.fill("[name=name]", "One folder only")
    ann.click("button:has-text('Save view')")
    assert "One folder only" in page.inner_text(".views")

    settle(server, sit, meant, **plain)
    suppress_and_lift(ann, server, left_in_a_folder(server, meant))
    with download_pack(sit("Lea", **plain)) as pack:
        assert "report.html" in pack.namelist()
    assert ann.complaints == []


def is_reason_of(page: Page) -> bool:
    """Tell whether nothing is wider than the phone: else a browser would zoom out."""
    return bool(page.evaluate("() => window.innerWidth") == PHONE_WIDTH)


def test_on_a_phone(server: Server, sit: Sit) -> None:
    ann = sit("Ann", **PHONE)
    page = ann.page
    ann.click("text=Start reviewing")
    for verdict in ("phi", "not_phi", "unsure"):
        assert is_reason_of(page)
        button = page.locator(verdict_button(verdict))
        box = button.bounding_box()
        assert box
        assert box["y"] + box["height"] <= 844, "the verdict is in sight without scrolling"
        assert box["height"] >= 44
        with page.expect_navigation():
            button.tap()
        assert "is recorded as" in ann.said()
    for path in ("/queue", "/scans", "/suppressions", "/second-review", "/search", "/left"):
        ann.go(path)
        assert is_reason_of(page), path
    page = ann.go(f"/items/{referral_letter(server)}")
    page.select_option("[name=purpose]", PURPOSES[0])
    ann.click("text=Reveal for")
    assert is_reason_of(page)
    assert ann.complaints == []
