"""An officer's day, counted: keys and page loads of items, form letters, and an incident of 30 files."""

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from phiscan.review.accounts.users import Role
from phiscan.review.decisions.writing import PURPOSES
from phiscan.review.store import Store
from tests.browser.conftest import PASSWORD, Seat, Server, Sit
from tests.browser.share import make_share

pytestmark = pytest.mark.slow

N_LETTERS = 200
N_BILLS = 30  # of one incident
N_ALONE = 40  # items that are decided one by one
MOST_CLICKS, MOST_LOADS = 16, 9  # of the incident
REVEAL_EVERY = 6  # at most one reveal in five items
MOST_KEYS = 1.3  # for each decision, reveals and steps through passages included
FIRST = ("Torvald", "Quenna", "Ommery", "Bristil", "Zanthe")
LAST = ("Karrowick", "Ostriba", "Vandelune", "Jellicorn")
LETTER = """{clinic}
Re: {first} {last}, born {born}, health card {card}

Dear {first} {last},

Your appointment for the retinal photograph is on {day}. You have type 2 diabetes, and hypertension was
noted at your last visit, so please continue metformin and ramipril as before and bring a list of your
medication. If your vision is blurred or you had chest pain, tell the nurse when you arrive.
"""


BILL = """Invoice of the Northgate Dialysis Unit
Patient: {first} {last}, born {born}, health card {card}
Haemodialysis for chronic kidney disease on {day}, erythropoietin and iron given; potassium was 5.4.
Please pay within thirty days; questions are answered by the billing office of the dialysis unit.
"""
NOTES = (
    "{name} was seen in the asthma clinic and takes salbutamol and a steroid inhaler twice daily.",
    "Health card {card}. The wound on the left heel has closed and the dressing was left off.",
    "Mrs. {last} asked about her thyroid nodule; ultrasound is booked and she was reassured.",
    "Telephone call with the daughter of {name}: he fell twice this week and hit his head.",
    "The colonoscopy of {name}, born {born}, showed a single polyp that was removed.",
    "{name} stopped warfarin by herself; the reasons and the risk of stroke were discussed.",
    "Discharge of {name}, MRN {card}, after pneumonia; amoxicillin for five more days.",
    "Physiotherapy for {name} after hip replacement: walks with one stick, stairs are hard.",
    "{name} reports migraine with aura since May and was given sumatriptan to try.",
    "Result for {name}, health card {card}: ferritin low, start iron and repeat in a month.",
    "Seen with her son, {name} has lost weight and is tired; HbA1c and kidney function ordered.",
    "{name}, born {born}, was told that the biopsy of the breast lump is benign.",
    "Depression: {name} sleeps better on sertraline and has gone back to work part time.",
    "The psoriasis of {name} is worse; referral to dermatology was sent with photographs.",
)


def write_notes(folder: Path) -> None:
    """Write notes that are not alike: each has a sentence of its own."""
    folder.mkdir()
    for number, note in enumerate(NOTES):
        first, last = FIRST[number % 5], LAST[number % 4]
        values = {
            "name": f"{first} {last}",
            "last": last,
            "card": f"{2000 + number}-555-{200 + number}",
            "born": f"19{50 + number}-03-{number + 1:02}",
        }
        text = f"Patient: {first} {last}\n\n{note.format(**values)}\n"
        (folder / f"note {number:02}.txt").write_text(text, encoding="utf-8")


def write_letters(folder: Path, text: str, n: int) -> None:
    folder.mkdir()
    for number in range(n):
        (folder / f"letter {number:03}.txt").write_text(
            text.format(
                clinic="Lakeside Diabetes Clinic",
                first=FIRST[number % 5],
                last=LAST[number // 5 % 4],
                born=f"19{40 + number % 50}-0{number % 9 + 1}-{number % 28 + 1:02}",
                card=f"{1000 + number}-555-{100 + number}",
                day=f"2026-0{number % 9 + 1}-{number % 27 + 1:02}",
            ),
            encoding="utf-8",
        )


@pytest.fixture(scope="session")
def scanned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Scan the sample share with 200 form letters and some notes beside it."""
    folder = tmp_path_factory.mktemp("letters")
    share, home = folder / "share", folder / "home"
    make_share(share)
    write_letters(share / "Form letters", LETTER, N_LETTERS)
    write_letters(share / "Bills", BILL, N_BILLS)
    write_notes(share / "Notes")
    environ = {**os.environ, "PHISCAN_HOME": str(home), "PYTHONPATH": str(Path.cwd())}
    for arguments in (["init", str(home)], ["scan", str(share), "--exit-zero"]):
        subprocess.run([sys.executable, "-m", "phiscan", *arguments], env=environ, cwd=folder, check=True)
    with Store.open(f"sqlite:///{home / 'phiscan.db'}") as store:
        store.users.add(name="Ann", role=Role.LEAD, password=PASSWORD, by="test", now=datetime.now(UTC))
    return home


class Counted:
    """A person before a browser who counts keys and page loads."""

    def __init__(self, seat: Seat) -> None:
        self.page, self.keys, self.loads = seat.page, 0, 0
        self.page.on("domcontentloaded", self._loaded)

    def _loaded(self, _page: Page) -> None:
        self.loads += 1

    def press(self, key: str) -> None:
        self.keys += 1
        self.page.keyboard.press(key)

    def item(self) -> str:
        number = self.page.locator("[data-item]").get_attribute("data-item")
        assert number
        return number

    def decide(self, key: str) -> None:
        """Decide the item, and wait for the next one."""
        before = self.item()
        self.press(key)
        self.page.wait_for_function(
            "before => document.querySelector('[data-item]')?.dataset.item !== before", arg=before
        )

    def reveal(self) -> None:
        """Hold a key, see the passage, release it."""
        self.keys += 1
        self.page.keyboard.down("r")
        expect(self.page.locator(".passage.open mark").first).to_be_visible()
        self.page.keyboard.up("r")
        expect(self.page.locator(".passage.open")).to_have_count(0)
        assert self.page.locator(".passage mark").count() == 0


@pytest.fixture(autouse=True)
def _chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "phiscan.toml"
    path.write_text('[organization]\nname = "General Hospital"\njurisdictions = ["ontario"]\n', "utf-8")
    monkeypatch.setenv("PHISCAN_CONFIG", str(path))


@pytest.fixture
def ann(sit: Sit) -> Iterator[tuple[Seat, Counted]]:
    seat = sit("Ann")
    yield seat, Counted(seat)
    assert seat.complaints == []


def test_an_officers_day(
    server: Server, ann: tuple[Seat, Counted], capsys: pytest.CaptureFixture[str]
) -> None:
    seat, counted = ann
    page = counted.page
    seat.press("o")
    page.select_option("#purpose", PURPOSES[0])  # once a session
    page.evaluate("() => document.activeElement.blur()")
    n_alone = n_reveals = n_group = n_bills = group_keys = group_loads = 0
    counted.loads = counted.keys = 0
    while n_alone < N_ALONE or n_group == 0 or n_bills == 0:
        heading = page.locator("#alike")
        if heading.count() and "199 near-duplicates" in heading.inner_text():
            before = counted.keys, counted.loads
            n_group = decide_the_letters(counted)
            group_keys, group_loads = counted.keys - before[0], counted.loads - before[1]
            continue
        if heading.count() and f"{N_BILLS - 1} near-duplicates" in heading.inner_text():
            n_bills = confirm_the_bills(counted)
            continue
        expect(page.locator(".passage").first).to_be_visible()
        assert page.locator(".prose .pill").count() > 0
        if n_alone % REVEAL_EVERY == 0:
            counted.reveal()
            n_reveals += 1
        counted.decide("pnu"[n_alone % 3])
        n_alone += 1
    keys, loads = counted.keys - group_keys - 3, counted.loads - group_loads - 3  # and those of the bills
    clicks, n_chars, incident_loads = file_the_incident(seat, counted)
    with capsys.disabled():
        print(
            f"\n{n_alone} items alone: {keys / n_alone:.2f} keys and {loads / n_alone:.2f} page loads each,"
            f" {n_reveals} reveals; {n_group} form letters: {group_keys} keys and {group_loads} page loads;"
            f" incident of {n_bills} files: 3 keys, then {clicks} clicks and {n_chars} characters typed,"
            f" {3 + incident_loads} page loads, to the filled form"
        )
    assert n_bills == N_BILLS
    assert clicks <= MOST_CLICKS
    assert incident_loads <= MOST_LOADS
    assert n_group == N_LETTERS
    assert n_reveals * 5 <= n_alone + 4
    assert keys <= MOST_KEYS * n_alone
    assert loads == 0
    page = seat.go("/tasks")  # after a download the same form can be sent again
    page.click("#tick-all")
    with page.expect_download():
        page.click("button[formaction='/tasks/script']")
    page.fill("[name=note]", "asked the owner")
    assert "said=recorded" in seat.click("button[value=note]")
    with server.store() as store:
        decided = [item for item in store.queue() if item.verdict]
        assert len(decided) == n_alone + n_group + n_bills
        assert len(store.desk.incidents()[0].files) == n_bills
        assert store.verify_audit().ok


def confirm_the_bills(counted: Counted) -> int:
    """Confirm a group of near-duplicates as PHI with three keys; return how many files it has."""
    for key in "gpo":
        with counted.page.expect_navigation():
            counted.press(key)
        if key == "p":
            expect(counted.page.locator("main")).to_contain_text(f"{N_BILLS} files are recorded as PHI.")
    return N_BILLS


def file_the_incident(seat: Seat, counted: Counted) -> tuple[int, int, int]:
    """Make one incident of the bills, assess it, and take the form; return clicks, characters and loads."""
    page, before, n_clicks, n_chars = counted.page, counted.loads, 0, 0
    steps = (
        ("nav .groups li:nth-child(2) a", ""),
        ("nav a[href='/tasks']", ""),
        (".filters summary", ""),
        (".filters [name=text]", "Bills"),
        (".filters button.primary", ""),
        ("#tick-all", ""),
        ("button[formaction='/incidents/choose']", ""),
        ("[name=title]", "Bills of the dialysis unit"),
        ("button:has-text('Open the incident')", ""),
        ("#happened", "The folder was open to all staff."),
        ("form[aria-labelledby=what] button.primary", ""),
        ("[name=state]", "assessed"),
        ("form[action$='/state'] [name=reason]", "Staff outside of the circle of care could read them"),
        ("form[action$='/state'] button", ""),
    )
    for place, text in steps:
        field = page.locator(place).first
        if text and place == "[name=state]":
            field.select_option(text)
        elif text:
            field.fill(text)
            n_chars += len(text)
        else:
            is_same_page = place in {".filters summary", "#tick-all"}
            field.click() if is_same_page else seat.click(f"{place} >> nth=0")
        n_clicks += 1
    with page.expect_download() as downloading:
        page.click("a[href*='/forms/ontario.'][href$='/txt']")
    assert "The folder was open to all staff." in Path(downloading.value.path()).read_text("utf-8")
    return n_clicks + 1, n_chars, counted.loads - before


def decide_the_letters(counted: Counted) -> int:
    """Decide the group of form letters, undo it, redo it, and go on; return how many files it has."""
    page = counted.page
    with page.expect_navigation():
        counted.press("g")
    expect(page.locator(".sample")).to_have_count(3)
    assert "Torvald" not in page.inner_text(".samples")
    with page.expect_navigation():
        counted.press("n")
    expect(page.locator("main")).to_contain_text(f"{N_LETTERS} files are recorded as not PHI.")
    status = page.inner_text("#status")
    keys, loads = counted.keys, counted.loads
    for key, words in (("z", "Undone"), ("y", "Recorded again")):
        with page.expect_navigation():
            counted.press(key)
        expect(page.locator(".flash p").first).to_have_text(f"{words}: not PHI for {N_LETTERS} files.")
    assert page.inner_text("#status") == status
    counted.keys, counted.loads = keys, loads  # what was tried, and is no part of the work
    with page.expect_navigation():
        counted.press("o")
    return N_LETTERS


def test_the_page_stays_right_while_items_change(server: Server, ann: tuple[Seat, Counted]) -> None:
    seat, counted = ann
    page = counted.page
    seat.press("o")
    first = counted.item()
    total = int(page.inner_text("#position").split(" of ")[1])
    counted.decide("p")
    expect(page.locator("#position")).to_have_text(f"1 of {total - 1}")
    expect(page.locator("#status")).to_contain_text(f"{total - 1} open")
    expect(page.locator("#pane [aria-current]")).to_have_count(1)
    expect(page.locator(".flash p").first).to_contain_text("is recorded as PHI")
    assert page.evaluate("() => document.activeElement.id") == "main"
    # Undo names what it undoes; the item before is shown again without a page load.
    counted.press("z")
    page.wait_for_function("n => document.querySelector('[data-item]').dataset.item === n", arg=first)
    expect(page.locator(".flash p").first).to_contain_text("Undone: PHI for ")
    expect(page.locator("#position")).to_have_text(f"1 of {total}")
    # Back and forward go through the items; the list leads to any of them.
    page.click("#pane li:nth-child(3) a")
    page.wait_for_function("n => document.querySelector('[data-item]').dataset.item !== n", arg=first)
    expect(page.locator("#position")).to_have_text(f"3 of {total}")
    page.go_back()
    page.wait_for_function("n => document.querySelector('[data-item]').dataset.item === n", arg=first)
    assert counted.loads == 1  # the first item of all
    # Passages are stepped through, and a note that could not be sent is still there.
    expect(page.locator(".passage").first).to_be_visible()
    counted.press("]")
    expect(page.locator(".passage.current")).to_have_count(1)
    page.fill("#verdict-form textarea", "the ward's list")
    page.route("**/decide", lambda route: route.abort())
    page.click("#verdict-form button[value=phi]")
    expect(page.locator("#verdict-form [role=alert]")).to_contain_text("the server did not answer")
    assert page.input_value("#verdict-form textarea") == "the ward's list"
    page.unroute("**/decide")
    page.click("#verdict-form button[value=phi]")
    page.wait_for_function("n => document.querySelector('[data-item]').dataset.item !== n", arg=first)
    with server.store() as store:
        assert store.desk.history(int(first), viewer="Ann")[-1].note == "the ward's list"
    seat.complaints.clear()  # the browser notes the request that the test cut
