"""The REST API does what the pages do, and its page in the documentation lists all of it."""

import json
import re
from dataclasses import replace
from pathlib import Path

from fastapi import FastAPI

from phiscan.review.store import Store
from tests.review.results import referred, scan
from tests.web.clock import Clock
from tests.web.conftest import Visit

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_of_the_documentation_lists_every_operation_with_its_permission(app: FastAPI) -> None:
    page = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `([A-Z]+) (/[^`]*)` \| ([a-z ]+) \|", page, re.MULTILINE))
    paths = json.loads(json.dumps(app.openapi()))["paths"]
    found = {
        (method.upper(), path.removeprefix("/api/v1"), operation["x-permission"].replace("_", " "))
        for path, operations in paths.items()
        for method, operation in operations.items()
    }
    assert listed == found


def test_the_page_of_the_documentation_says_what_each_role_may_do() -> None:
    page = (DOCS / "reference" / "users.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in page.splitlines()
        if line.startswith("| ") and line.count("|") == 8 and "yes" in line
    ]
    named = {
        row[0]: {role for role, yes in zip(ROLES, row[1:7], strict=True) if yes == "yes"} for row in rows
    }
    assert named == {
        "see the queue and masked items": {"reader", "reviewer", "lead"},
        "see what was scanned, and what could not be read": {"reader", "reviewer", "lead", "auditor"},
        "decide, undo, correct spans, suppress narrowly": {"reviewer", "lead"},
        "reveal the text of an item": {"reviewer", "lead"},
        "export the queue": {"reviewer", "lead"},
        "assign, settle disagreements, approve broad suppressions": {"lead"},
        "make and read reports": {"lead", "auditor"},
        "read, verify and sign the audit log": {"auditor"},
        "accounts": {"admin"},
        "read incidents, their forms and the register": {"reviewer", "lead", "auditor"},
        "group files into incidents, write their texts, write to owners": {"reviewer", "lead"},
        "decide the state of an incident": {"lead"},
        "see and answer for the confirmed files that one owns": {"owner"},
        "search for a person: which files hold them": {"reviewer", "lead"},
        "unlock accounts after wrong passwords, reset a lost second factor": {"lead", "admin"},
    }


ROLES = ("reader", "reviewer", "lead", "auditor", "admin", "owner")


def test_gives_prometheus_counts_and_no_name(browser: Visit, store: Store) -> None:
    answer = browser("auditor").get("/api/v1/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'phiscan_queue_files{verdict="undecided"} 2.0' in answer.text
    assert not [item.path for item in store.queue() if item.path in answer.text]
    assert browser("reader").get("/api/v1/metrics").status_code == 403


def test_shows_the_interval_of_the_people_where_they_are_shown(browser: Visit, store: Store) -> None:
    counted = referred("export.csv", root=b"/other", n_people=75_000)
    alone = (("patterns", 0.5), ("names", 0.25))
    result = replace(counted, people_interval=(71_000, 79_500), detector_probabilities=alone)
    scan(store, [result], root=b"/other", minutes=5)
    visitor = browser("reviewer")
    items = {item["path"]: item for item in visitor.get("/api/v1/queue").json()["items"]}
    assert items["export.csv"]["people_interval"] == [71_000, 79_500]
    assert items["a/letter.txt"]["people_interval"] is None
    page = visitor.get(f"/items/{items['export.csv']['file']}").text
    assert re.search(r"95 %: 71\W?000 to 79\W?500", page)
    other = visitor.get(f"/items/{items['a/letter.txt']['file']}").text
    assert "95 %" not in other
    detail = visitor.get(f"/api/v1/items/{items['export.csv']['file']}").json()
    assert detail["detector_probability"] == {"patterns": 0.5, "names": 0.25}


def test_lists_shows_decides_and_takes_back(browser: Visit, store: Store) -> None:
    visitor = browser("reviewer")
    listed = visitor.get("/api/v1/queue").json()
    assert listed["n"] == 2
    assert [item["path"] for item in listed["items"]] == ["a/letter.txt", "c/referral.txt"]
    first = listed["items"][0]
    shown = visitor.get(f"/api/v1/items/{first['file']}").json()
    assert shown["item"] == first
    assert [found["shape"] for found in shown["found"]] == ["999-999-9999", "Xxx Xx"]
    sent = {"verdict": "phi", "seen": first["seen"], "token": "t-1", "reason": "message", "note": "see file"}
    made = visitor.post(f"/api/v1/items/{first['file']}/verdict", json=sent).json()
    assert (made["verdict"], made["reviewer"], made["repeated"]) == ("phi", "reviewer", False)
    again = visitor.post(f"/api/v1/items/{first['file']}/verdict", json=sent).json()
    assert again == {**made, "repeated": True}
    assert visitor.get("/api/v1/queue").json()["n"] == 1
    assert visitor.get("/api/v1/queue?state=phi&text=letter").json()["n"] == 1
    assert visitor.delete(f"/api/v1/items/{first['file']}/verdict").status_code == 204
    assert visitor.delete(f"/api/v1/items/{first['file']}/verdict").status_code == 409
    assert visitor.get("/api/v1/queue").json()["n"] == 2
    assert store.verify_audit().ok


def test_somebody_who_was_slower_is_told_and_a_lead_takes_back_what_another_decided(browser: Visit) -> None:
    sent, address = {"verdict": "phi", "seen": 1}, "/api/v1/items/1/verdict"
    assert browser("reviewer").post(address, json=sent).status_code == 200
    other = browser("lead")
    sent["verdict"] = "not_phi"
    assert other.post(address, json=sent).status_code == 409
    assert other.delete(address).status_code == 204
    assert browser("reviewer").post(address, json=sent).status_code == 200
    assert other.post(address, json={**sent, "verdict": "phi", "override": True}).status_code == 200


def test_a_wrong_filter_is_refused_by_name(browser: Visit) -> None:
    visitor = browser("lead")
    wrong = ["state=x", "min=2", "max=nan", "kind=NOTHING", "root=x", "root=-1", "root=²", f"root={10**20}"]
    for one in (*wrong, "order=x", "at=x", "text=" + "x" * 1001):
        for path in ("queue", "queue/export"):
            answer = visitor.get(f"/api/v1/{path}?{one}")
            assert answer.status_code == 400, one
            assert one.partition("=")[0] in answer.json()["detail"]
    assert visitor.get("/api/v1/queue?limit=0").status_code in {400, 422}


def test_corrects_a_span(browser: Visit) -> None:
    visitor = browser("reviewer")
    sent = {"mark": "wrong_type", "seen": 1, "position": 0, "type": "FAX"}
    made = visitor.post("/api/v1/items/1/spans", json=sent)
    assert made.status_code == 201
    assert (made.json()["mark"], made.json()["type"], made.json()["position"]) == ("wrong_type", "FAX", 0)
    assert visitor.get("/api/v1/items/1").json()["corrections"] == [made.json()]
    for wrong in ({"start": 5}, {"start": 5, "end": 5}, {"start": 9, "end": 5}, {"mark": "wrong_extent"}):
        bad = visitor.post("/api/v1/items/1/spans", json={**sent, **wrong})
        assert bad.status_code == 400, wrong


def test_assigns_all_or_none(browser: Visit) -> None:
    visitor = browser("lead")
    sent = {"files": [1, 6], "assignee": "reviewer"}
    assert visitor.post("/api/v1/assignments", json=sent).status_code == 204
    assert visitor.get("/api/v1/queue?assignee=reviewer").json()["n"] == 2
    for files in ([1, 99], [0], [2**63], []):
        bad = visitor.post("/api/v1/assignments", json={"files": files, "assignee": ""})
        assert bad.status_code in {400, 422}, files
    assert visitor.get("/api/v1/queue?assignee=reviewer").json()["n"] == 2


def test_suppresses_and_lifts(browser: Visit, clock: Clock) -> None:
    visitor = browser("reviewer")
    found = visitor.get("/api/v1/items/6").json()["found"][0]
    scope = {"kind": "value", "target": found["identity"], "folder": "c", "root": 1}
    preview = visitor.post("/api/v1/suppressions/preview", json=scope).json()
    assert set(preview) == {"n_hidden", "n_matched", "examples", "needs_approval", "why"}
    until = clock().replace(year=clock().year + 1).isoformat()
    sent = {**scope, "reason": "our own switchboard", "until": until}
    made = visitor.post("/api/v1/suppressions", json=sent)
    assert made.status_code == 201
    number = made.json()["id"]
    assert visitor.get("/api/v1/suppressions").json()["suppressions"][0]["id"] == number
    assert visitor.post(f"/api/v1/suppressions/{number}/approval").status_code == 403
    assert visitor.delete(f"/api/v1/suppressions/{number}").status_code == 204
    assert visitor.get("/api/v1/suppressions").json()["suppressions"][0]["status"] == "lifted"


def test_an_export_stands_in_the_log(browser: Visit, store: Store) -> None:
    answer = browser("lead").get("/api/v1/queue/export?state=any")
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert answer.headers["cache-control"] == "no-store"
    assert [json.loads(line)["path"] for line in answer.text.splitlines()] == [
        "a/letter.txt",
        "c/referral.txt",
    ]
    (entry,) = store.users.log(action="export").entries
    assert (entry.actor, entry.details["value"]) == ("lead", "queue")


def test_accounts_by_the_api(browser: Visit, store: Store) -> None:
    admin = browser("admin")
    new = {"name": "Zoe", "role": "reader", "password": "a very new password"}
    made = admin.post("/api/v1/users", json=new)
    assert made.status_code == 201
    assert "password" not in made.text.replace("has_password", "")
    number = made.json()["id"]
    change = {"role": "lead", "disabled": True}
    changed = admin.patch(f"/api/v1/users/{number}", json=change).json()
    assert (changed["role"], changed["disabled"] is not None) == ("lead", True)
    assert admin.patch("/api/v1/users/999", json=change).status_code == 400
    names = [user["name"] for user in admin.get("/api/v1/users").json()["users"]]
    assert names == [*sorted(ROLES), "Zoe"]
    assert [e.action for e in store.users.log(limit=3).entries] == ["user_disable", "user_role", "user_add"]


def test_the_log_by_the_api(browser: Visit) -> None:
    auditor = browser("auditor")
    check = auditor.get("/api/v1/log/verification").json()
    assert check["ok"]
    signed = auditor.post("/api/v1/log/reviews", json={"head": check["head"], "note": "n"})
    assert (signed.status_code, signed.json()["n_entries"]) == (201, check["entries"])
    page = auditor.get("/api/v1/log?limit=2").json()
    assert [entry["action"] for entry in page["entries"]] == ["log_review", "sign_in"]
    older = auditor.get(f"/api/v1/log?limit=100&before={page['older']}").json()
    assert older["entries"][0]["id"] == page["older"] - 1
    assert older["older"] == 0
