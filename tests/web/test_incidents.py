"""Incidents: files of one breach are assessed, decided and filed; owners answer for their own files."""

import csv
import io
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pypdfium2
import pytest
import sqlalchemy as sa
from fastapi import FastAPI

from phiscan.config import config_of
from phiscan.errors import ConfigError, ConflictError, InputError
from phiscan.language import using
from phiscan.model import ReaderCount, Verdict
from phiscan.report.incidents import FIELDS
from phiscan.report.regulators import Organization, jurisdictions, read_organization, running
from phiscan.review.accounts.users import Role
from phiscan.review.decisions.incidents import IncidentState, TaskState
from phiscan.review.records.openings import add_openings, cover, minute_of
from phiscan.review.records.reader_counts import store_counts
from phiscan.review.store import Store
from phiscan.store.tables.scans import file
from tests.review.results import NOW, later, readable, scan
from tests.web.conftest import PASSWORD, Visit

NAMES = ("open.txt", "gone.txt", "closed.txt", "edited.txt", "other.txt")
HOSPITAL = Organization("General Hospital", "A. Officer, 555-0100", ("ontario", "quebec"))


@pytest.fixture
def confirmed(store: Store) -> dict[str, int]:
    """Scan files that everyone may read beside the first scan's, confirm them, and return their numbers."""
    scan(store, [readable(name) for name in NAMES], root=b"/wide", minutes=2)
    numbers = {name: store.find(name) for name in NAMES}
    for name, number in numbers.items():
        verdict = Verdict.NOT_PHI if name == "other.txt" else Verdict.PHI
        store.desk.decide(number, verdict, reviewer="reviewer", now=later(5))
    return numbers


@pytest.fixture
def chosen(app: FastAPI) -> None:
    """Choose jurisdictions, as phiscan.toml does."""
    app.state.desk = replace(app.state.desk, organization=HOSPITAL)


@pytest.fixture
def number(store: Store, confirmed: dict[str, int]) -> int:
    """Open an incident of two files."""
    files = [confirmed["open.txt"], confirmed["gone.txt"]]
    return store.desk.write_incident(None, {"title": "Ward folder"}, add=files, by="reviewer", now=later(6))


def states(store: Store, minutes: int = 6) -> dict[str, TaskState]:
    return {one.path: one.state for one in store.desk.tasks(now=later(minutes))}


def test_a_verdict_opens_a_task_and_the_next_scan_closes_it(store: Store, confirmed: dict[str, int]) -> None:
    assert states(store) == dict.fromkeys(
        ("open.txt", "gone.txt", "closed.txt", "edited.txt"), TaskState.OPEN
    )
    task = next(one for one in store.desk.tasks(now=later(6)) if one.path == "open.txt")
    assert task.due == later(5) + timedelta(days=1)  # everyone may read it
    assert task.proof_scan is None
    assert set(states(store, 6 + 24 * 60).values()) == {TaskState.OVERDUE}
    proof = scan(
        store,
        [readable("closed.txt", 0o100600), readable("edited.txt", content="another content")],
        unchanged=["open.txt", "other.txt"],
        root=b"/wide",
        minutes=10,
    )
    assert states(store, 20) == {
        "open.txt": TaskState.OPEN,
        "gone.txt": TaskState.GONE,
        "closed.txt": TaskState.RESTRICTED,
        "edited.txt": TaskState.CHANGED,
    }
    found = {one.path: one for one in store.desk.tasks(now=later(20))}
    assert {found[name].proof_scan for name in ("gone.txt", "closed.txt", "edited.txt")} == {proof}
    assert found["gone.txt"].proved == later(11)
    store.desk.undo(confirmed["open.txt"], by="reviewer", now=later(21))
    assert "open.txt" not in states(store, 22)


def test_a_verdict_that_awaits_a_blind_second_one_is_no_task_yet(store: Store) -> None:
    store.desk.set_policy(second_review=1.0, hide_limit=20, by="lead", now=NOW)
    store.desk.decide(1, Verdict.PHI, reviewer="reviewer", now=later(5))
    assert store.desk.tasks(now=later(6)) == ()
    store.desk.decide(1, Verdict.PHI, reviewer="lead", now=later(7))
    assert len(store.desk.tasks(now=later(8))) == 1


@pytest.mark.usefixtures("chosen")
def test_files_become_an_incident_that_is_assessed_decided_and_filed(
    browser: Visit, store: Store, confirmed: dict[str, int]
) -> None:
    reviewer = browser("reviewer")
    assert "open.txt" in reviewer.get("/tasks").text
    files = [confirmed["open.txt"], confirmed["gone.txt"]]
    page = reviewer.post("/incidents/choose", data={"file": files})
    assert "2 files to an incident" in page.text
    assert store.desk.incidents() == ()  # nothing is written yet
    answer = reviewer.post("/incidents", data={"file": files, "title": "Ward folder"})
    assert answer.headers["location"] == "/incidents/1"
    reviewer.post("/incidents", data={"file": confirmed["edited.txt"], "incident": 1})
    texts = {"happened": "A folder was open to all.\nNo password.", "quebec.sensitivity": "Very sensitive"}
    form = {"name": [*texts, "counted"], "text": [*texts.values(), ""]}
    assert reviewer.post("/incidents/1", data=form).headers["location"].endswith("said=written")
    page = reviewer.get("/incidents/1").text
    for shown in (
        "Very sensitive",
        "21, from 5 to 27",
        "everyone",
        "Quebec (Law 25)",
        "Time limits",
        "edited.txt",
    ):
        assert shown in page
    assert "GDPR" not in page  # not chosen
    lead = browser("lead")
    decision = {"state": "assessed", "reason": "Risk of serious injury."}
    assert lead.post("/incidents/1/state", data=decision).status_code == 303
    assert lead.post("/incidents/1", data=form).status_code == 409  # not open any more
    text = lead.get("/incidents/1/forms/quebec.notice/txt").text
    assert "General Hospital" in text
    assert "A folder was open to all.\n    No password." in text
    assert "[to be filled in]" in text
    assert "CQLR, c. A-2.1, r. 3.1, s. 3; rules in force since 2022-12-29" in text
    pdf = lead.get("/incidents/1/forms/quebec.notice/pdf")
    words = "".join(
        one.get_textpage().get_text_range() for one in pypdfium2.PdfDocument(io.BytesIO(pdf.content))
    )
    assert "Very sensitive" in words
    assert lead.get("/incidents/1/forms/gdpr.notification/txt").status_code == 404
    (row,) = csv.DictReader(io.StringIO(lead.get("/incidents/register/csv").text))
    assert (row["title"], row["state"], row["files"], row["reason"]) == (
        "Ward folder",
        "assessed",
        "3",
        "Risk of serious injury.",
    )
    assert lead.get("/incidents/register/pdf").content.startswith(b"%PDF")
    logged = store.users.log(action="export").entries
    assert [one.details["value"] for one in logged] == [
        "incidents.pdf",
        "incidents.csv",
        "incident-1-quebec.notice.pdf",
        "incident-1-quebec.notice.txt",
    ]


def test_without_a_jurisdiction_no_clock_is_shown_and_the_page_says_how_to_choose(
    browser: Visit, number: int
) -> None:
    page = browser("reviewer").get(f"/incidents/{number}").text
    assert "<strong>Now</strong>" not in page  # nothing was put right yet
    assert "[organization] jurisdictions" in page
    assert "60 calendar days" not in page


def test_entries_are_in_the_log_without_their_words_and_are_verified(store: Store, number: int) -> None:
    store.desk.write_incident(number, {"happened": "secret words"}, by="reviewer", now=later(7))
    entries = store.users.log(action="incident").entries
    assert {one.details["incident"] for one in entries} == {number}
    assert "secret words" not in str(entries)
    assert store.verify_audit().ok
    with store.database._engine.begin() as connection:
        connection.exec_driver_sql("DROP TRIGGER incident_entry_no_update")
        connection.exec_driver_sql("UPDATE incident_entry SET text = 'other' WHERE field = 'happened'")
    check = store.verify_audit()
    assert not check.ok
    assert any("incident_entry" in one.what for one in check.found)


def test_states_texts_and_files_are_refused_where_they_make_no_sense(store: Store, number: int) -> None:
    desk, given = store.desk, {"by": "lead", "now": later(8)}
    for texts, why in (({"title": " "}, "expected a name"), ({"title": "x" * 201}, "at most 200")):
        with pytest.raises(InputError, match=why):
            desk.write_incident(number, texts, **given)
    with pytest.raises(InputError, match="expected a name"):
        desk.write_incident(number, {}, state=IncidentState.CLOSED, reason=" ", **given)
    with pytest.raises(InputError, match="none of them is in the list"):
        desk.write_incident(None, {"title": "t"}, add=[99_999], **given)
    with pytest.raises(InputError, match="none of this number"):
        desk.incident(77)
    desk.write_incident(number, {}, state=IncidentState.CLOSED, reason="no risk", **given)
    with pytest.raises(ConflictError):
        desk.write_incident(number, {"happened": "x"}, **given)
    with pytest.raises(ConflictError):
        desk.write_incident(number, {}, state=IncidentState.CLOSED, reason="again", **given)
    desk.write_incident(number, {}, state=IncidentState.OPEN, reason="new facts", **given)
    first = desk.incident(number).files[0]
    desk.write_incident(number, {}, remove=[first], **given)
    assert first not in desk.incident(number).files


def test_a_blind_file_is_left_out(store: Store, confirmed: dict[str, int]) -> None:
    store.desk.draw_sample(n_queued=50, n_unreferred=0, by="lead", now=later(5))
    blind = [one.file_id for one in store.desk.items(viewer="x", now=later(6), limit=99).items if one.blind]
    assert blind
    add = [confirmed["open.txt"], *blind]
    number = store.desk.write_incident(None, {"title": "t"}, add=add, by="lead", now=later(6))
    assert not set(store.desk.incident(number).files) & set(blind)


def test_an_owner_sees_and_answers_for_their_own_files_alone(
    browser: Visit, store: Store, confirmed: dict[str, int]
) -> None:
    store.users.add(name="JRoe", role=Role.OWNER, password=PASSWORD, by="admin", now=NOW)
    store.desk.decide(1, Verdict.PHI, reviewer="reviewer", now=later(5))  # of another owner
    client = browser("JRoe")
    assert client.get("/").headers["location"] == "/mine"
    page = client.get("/mine").text
    assert "open.txt" in page
    assert "/items/" not in page
    assert client.get(f"/items/{confirmed['open.txt']}").status_code == 403
    given = {"answer": "done", "file": [confirmed["open.txt"]]}
    assert client.post("/mine", data=given).headers["location"] == "/mine?said=answered"
    assert client.post("/mine", data={**given, "file": [1]}).headers["location"].endswith("none")
    needed = {"answer": "needed", "file": [confirmed["gone.txt"]]}
    assert client.post("/mine", data=needed).status_code == 400  # without a reason
    assert "answered: done" in browser("lead").get("/tasks").text
    assert "open.txt" not in browser("owner").get("/mine").text
    assert store.users.log(action="incident").entries[0].actor == "JRoe"


def test_the_evidence_is_that_of_the_breach_with_that_of_now_beside_it(
    browser: Visit, store: Store, number: int
) -> None:
    closed = replace(readable("open.txt", 0o100600), n_people=2, people_interval=(2, 2))
    closed = replace(
        closed, source=replace(closed.source, readers=("jroe",)), finding_counts=(("PERSON", 1),)
    )
    scan(store, [closed], root=b"/wide", minutes=10)  # the other file is gone
    client = browser("lead")
    for changed in (False, True):  # first only its access, then its content too
        if changed:
            cleaned = replace(closed, content_hash="cleaned")
            scan(store, [cleaned], root=b"/wide", minutes=12)
            verdict = {"reviewer": "lead", "now": later(14)}
            store.desk.decide(store.find("open.txt"), Verdict.NOT_PHI, **verdict)  # type: ignore[arg-type]
        page = client.get(f"/incidents/{number}").text
        assert "14, from 5 to 18 (estimate; copies of one content count once). <strong>Now</strong> 2" in page
        assert re.search(r"everyone[^<]*\(2\)\. <strong>Now</strong> ", page)
        assert "14" in client.get("/incidents").text
        (row,) = csv.DictReader(io.StringIO(client.get("/incidents/register/csv").text))
        assert (row["people"], row["people_high"]) == ("14", "18")


def test_the_day_of_discovery_stays_when_files_move_or_are_decided_again(
    browser: Visit, store: Store, number: int
) -> None:
    shown = 'Discovered</dt><dd><time datetime="2026-11-20T08:35:00+00:00"'  # the first verdict
    client = browser("lead")
    assert shown in client.get(f"/incidents/{number}").text
    moved = [replace(readable(name), source=readable(f"x/{name}").source) for name in NAMES]
    scan(store, moved, root=b"/wide", minutes=10)
    assert shown in client.get(f"/incidents/{number}").text
    place = store.find("x/gone.txt")
    assert place in store.desk.incident(number).files
    store.desk.decide(place, Verdict.PHI, reviewer="lead", now=later(200), override=True)
    assert shown in client.get(f"/incidents/{number}").text


@pytest.mark.usefixtures("chosen")
def test_an_invalid_value_is_one_line_on_the_form_which_keeps_what_was_typed(
    browser: Visit, store: Store, number: int
) -> None:
    client = browser("reviewer")
    for field, typed, line in (
        ("discovered", "9999-12-31", "Day of the discovery: expected year-month-day, from 1990-01-01 to"),
        ("discovered", "soon", "Day of the discovery: expected year-month-day"),
        ("counted", "about 40", "People affected: expected a whole number"),
    ):
        form = {"name": ["happened", field], "text": ["A long\r\nstory", typed]}
        answer = client.post(f"/incidents/{number}", data=form)
        assert answer.status_code == 400
        assert line in answer.text
        assert f'value="{typed}"' in answer.text
        assert "A long\r\nstory</textarea>" in answer.text
        assert "happened" not in store.desk.incident(number).texts
    assert client.get("/incidents").status_code == 200


@pytest.mark.usefixtures("chosen")
def test_a_stale_page_says_who_changed_what_and_keeps_what_was_typed(
    browser: Visit, store: Store, number: int
) -> None:
    client = browser("reviewer")
    page = client.get(f"/incidents/{number}").text
    (last,) = set(re.findall(r'name="seen" value="(\d+)"', page))
    store.desk.write_incident(
        number, {"happened": "by lead", "quebec.sensitivity": "high"}, by="lead", now=later(7)
    )
    form = {"seen": last, "name": ["title", "happened", "found"], "text": ["Ward folder", "mine", "a call"]}
    answer = client.post(f"/incidents/{number}", data=form)
    assert answer.status_code == 409
    assert "<strong>lead</strong> wrote: What happened, and how" in answer.text
    assert "Sensitivity of the information concerned" in answer.text
    for kept in ("mine</textarea>", "a call</textarea>", "<strong>Stored now</strong> by lead"):
        assert kept in answer.text
    assert store.desk.incident(number).texts["happened"] == "by lead"
    (fresh,) = set(re.findall(r'name="seen" value="(\d+)"', answer.text))
    assert client.post(f"/incidents/{number}", data={**form, "seen": fresh}).status_code == 303
    assert store.desk.incident(number).texts["happened"] == "mine"
    lead = browser("lead")
    decision = {"state": "closed", "reason": "No\r\nrisk.", "seen": last}
    answer = lead.post(f"/incidents/{number}/state", data=decision)
    assert answer.status_code == 409
    assert "No\r\nrisk.</textarea>" in answer.text
    assert '<option value="closed" selected>' in answer.text
    decision["seen"] = re.findall(r'name="seen" value="(\d+)"', answer.text)[0]
    assert lead.post(f"/incidents/{number}/state", data=decision).status_code == 303
    page = lead.get(f"/incidents/{number}").text
    assert "No<br>risk." in page
    late = client.post(f"/incidents/{number}", data={**form, "text": ["t", "late", ""]})
    assert late.status_code == 409  # closed meanwhile: the text can still be copied
    assert "late</textarea>" in late.text


def test_line_ends_are_shown_and_no_escape(browser: Visit, number: int) -> None:
    form = {"name": "happened", "text": "One.\r\nTwo \u202e<b>.\rThree."}
    browser("reviewer").post(f"/incidents/{number}", data=form)
    page = browser("auditor").get(f"/incidents/{number}").text
    assert "One.<br>Two \\u202e&lt;b&gt;.<br>Three." in page
    assert "\\x0" not in page


def test_an_incident_without_files_is_listed_and_registered(
    browser: Visit, store: Store, number: int
) -> None:
    store.desk.write_incident(
        number, {}, remove=store.desk.incident(number).files, by="reviewer", now=later(7)
    )
    client = browser("lead")
    page = client.get("/incidents").text
    assert "Ward folder" in page
    assert "/incidents/register/csv" in page
    assert client.get(f"/incidents/{number}").status_code == 200
    (row,) = csv.DictReader(io.StringIO(client.get("/incidents/register/csv").text))
    assert row["files"] == "0"


def test_more_than_a_thousand_files_are_chosen_at_once(browser: Visit, store: Store) -> None:
    names = [f"f{one:04}.txt" for one in range(1, 1_003)]
    scan(store, [readable(name) for name in names], root=b"/many", minutes=2)
    first = store.find(names[0])
    files = list(range(first, first + len(names)))
    client = browser("reviewer")
    page = client.post("/incidents/choose", data={"file": files})
    assert page.text.count('name="file"') == len(files)
    answer = client.post("/incidents", data={"file": files, "title": "Share"})
    assert answer.headers["location"] == "/incidents/1"
    assert client.get("/incidents/1").status_code == 200
    given = {"file": files[:1_001]}
    assert client.post("/incidents/1", data=given).status_code == 303
    assert len(store.desk.incident(1).files) == 1


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (
            {"jurisdictions": ["ontario", "atlantis"]},
            "organization.jurisdictions: atlantis: expected some of",
        ),
        (
            {"jurisdiction": ["ontario"]},
            "organization.jurisdiction: unknown field; expected one of confirmed",
        ),
        ({"name": 3}, "organization.name: expected a text"),
    ],
)
def test_a_wrong_key_of_the_organization_is_refused_in_one_line(table: dict[str, object], why: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(why)) as refused:
        read_organization(config_of({"organization": table}))
    assert "\n" not in str(refused.value)


def test_the_clocks_are_those_of_the_rules_the_shortest_first() -> None:
    laws = jurisdictions()
    found = NOW.replace(hour=9, minute=30)
    few = {one.id: end for one, end in running(laws.values(), found, (3, 40))}
    assert next(iter(few)) == "gdpr.authority"
    assert few["gdpr.authority"] == found + timedelta(hours=72)
    assert few["hipaa.individuals"] == found.replace(hour=0, minute=0) + timedelta(days=60)
    assert few["ontario.annual"] == found.replace(year=found.year + 1, month=3, day=1, hour=0, minute=0)
    assert few["quebec.commission"] is None
    assert not {"hipaa.secretary", "hipaa.media"} & few.keys()  # fewer than 500 people in this incident
    many = [one.id for one, _end in running([laws["hipaa"]], found, (400, 700))]
    assert {"hipaa.secretary", "hipaa.media", "hipaa.annual"} <= set(many)  # each may apply
    assert "hipaa.annual" not in [one.id for one, _end in running([laws["hipaa"]], found, (600, 700))]


def test_a_clock_ends_with_the_calendar_and_not_with_an_error() -> None:
    last = datetime(9999, 12, 20, tzinfo=UTC)
    for law in jurisdictions().values():
        for clock, end in running([law], last, (1, 900), last):
            assert end is None or end > last, clock.id
    clock = jurisdictions()["hipaa"].clocks[0]
    assert replace(clock, after={"hours": 10**12}).ends(NOW) is None
    assert replace(clock, after={"months": 10**6}).ends(NOW) is None


def test_records_are_kept_from_the_day_that_the_rule_names() -> None:
    last = NOW + timedelta(days=400)
    laws = [jurisdictions()[name] for name in ("canada", "hipaa", "quebec")]
    kept = {clock.id: end for clock, end in running(laws, NOW, (1, 9), last) if clock.keep}
    midnight = last.replace(hour=0, minute=0)
    assert kept["hipaa.record"] == midnight.replace(year=midnight.year + 6)
    assert kept["canada.record"] == midnight.replace(year=midnight.year + 2)
    assert kept["quebec.register"] == NOW.replace(year=NOW.year + 5, hour=0, minute=0)  # r. 3.1, s. 8
    limits = {clock.id: end for clock, end in running(laws, NOW, (1, 9), last) if not clock.keep}
    assert limits["hipaa.individuals"] == NOW.replace(hour=0, minute=0) + timedelta(days=60)


@pytest.mark.usefixtures("chosen")
def test_the_year_of_the_statistics_is_of_utc_unless_a_day_is_written(
    browser: Visit, store: Store, number: int
) -> None:
    client = browser("lead")
    assert "end in UTC" in client.get(f"/incidents/{number}").text
    address = f"/incidents/{number}/forms/ontario.statistics/txt"
    assert "2026-11-20 (UTC)" in client.get(address).text
    store.desk.write_incident(number, {"discovered": "2026-01-02"}, by="lead", now=later(8))
    assert "    2026-01-02\n" in client.get(address).text


def test_every_rule_is_in_both_languages_and_every_form_names_known_values() -> None:
    known = {
        *FIELDS,
        *[
            "organization",
            "contact",
            "kinds",
            "files",
            "people",
            "size",
            "regions",
            "readers",
            "places",
            "tests",
        ],
    }
    for law in jurisdictions().values():
        for text in (law.name, *(one.what for one in law.clocks), *(one.question for one in law.tests)):
            with using("fr"):
                french = str(text)
            assert french != str(text), text
        assert {name for form in law.forms for field in form.fields for name in field.fill} <= known


@pytest.mark.usefixtures("chosen")
def test_the_number_of_people_who_could_read_is_on_the_page_of_a_file_and_in_the_forms(
    browser: Visit, store: Store, confirmed: dict[str, int], number: int
) -> None:
    files = [store.item(confirmed[name]) for name in ("open.txt", "gone.txt")]
    counted = [
        ReaderCount(low=low, high=high, n_accounts=230, notes=notes, counted=later(7))
        for low, high, notes in ((214, 214, ()), (95, 230, ("group",)))
    ]
    of_files = list(zip(files, counted, strict=True))
    store.database.write(lambda connection: store_counts(connection, of_files, {}))
    client = browser("lead")
    for one, words in zip(files, ("214 people", "95 to 230 people; members of a group"), strict=True):
        assert words in client.get(f"/items/{one.file_id}").text
    law, form = next(
        (name, one.id)
        for name in ("ontario", "quebec")
        for one in jurisdictions()[name].forms
        if any("readers" in field.fill for field in one.fields)
    )
    text = client.get(f"/incidents/{number}/forms/{form}/txt").text
    assert law in form
    assert "the file that most people can read: 95 to 230 people; members of a group are not known" in text
    assert store.verify_audit().ok


def test_what_access_logs_say_fills_the_third_factor_until_an_officer_writes(
    app: FastAPI, store: Store, browser: Visit, confirmed: dict[str, int]
) -> None:
    hipaa = Organization("General Hospital", "A. Officer, 555-0100", ("hipaa",))
    app.state.desk = replace(app.state.desk, organization=hipaa)
    files = [confirmed["open.txt"], confirmed["gone.txt"]]
    number = store.desk.write_incident(None, {"title": "Ward"}, add=files, by="reviewer", now=later(6))
    lead = browser("lead")
    (test,) = [one for one in jurisdictions()["hipaa"].tests if one.evidence == ("viewed",)]
    assert "No log covers these files." in lead.get(f"/incidents/{number}").text
    minute = minute_of(later(1))
    opened = {(files[0], account, minute): False for account in (b"one account", b"another one")}
    with store.database.read() as connection:
        root_id = connection.execute(sa.select(file.c.root_id).where(file.c.id == files[0])).scalar_one()

    def imported(connection: sa.Connection) -> None:
        add_openings(connection, opened)
        cover(connection, (root_id, b""), "samba", later(0), later(3))

    store.database.write(imported)
    words = "Files opened: 1; not opened in the time that logs cover: 1; no log covers: 0. Openings: 2."
    page = lead.get(f"/incidents/{number}").text
    assert page.count(words) == 3  # in both fields, and beside the factor
    assert "openings: 2, accounts: 2" in lead.get("/queue?state=any").text
    assert "Openings: 2. Different accounts: 2" in lead.get(f"/items/{files[0]}").text
    text = re.findall(r'name="text" rows="\d" maxlength="10000">(Files opened[^<]*)<', page)[0]
    given = {"name": ["viewed", test.id, "happened"], "text": [text, text, "a share"]}
    assert lead.post(f"/incidents/{number}", data=given).status_code == 303
    assert set(store.desk.incident(number).texts) == {"title", "happened"}
    written = {"name": ["viewed"], "text": ["Nobody opened it."]}
    assert lead.post(f"/incidents/{number}", data=written).status_code == 303
    assert store.desk.incident(number).texts["viewed"] == "Nobody opened it."
    assert "Nobody opened it." in lead.get(f"/incidents/{number}").text
