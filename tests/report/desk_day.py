"""Two scans and a day at the desk, as the store would have them; every free text is the canary."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from phiscan.model import EntityType, FileResult, Referral, Span, Verdict
from phiscan.review.decisions.learning import Mark
from phiscan.review.decisions.suppressions import SuppressionKind, SuppressionScope
from phiscan.review.store import Store
from phiscan.store.database import Database
from tests.empty_database import new_database
from tests.report.synthetic import CANARY, NOW, VERSIONS, Made, failed, finding, screened

AFTER = NOW + timedelta(days=1)  # the second scan
DAY = NOW + timedelta(days=2)  # the day at the desk
NURSES = ("group nurses", "user ana")


@dataclass(frozen=True)
class Scans:
    """What the two scans saw."""

    first: tuple[FileResult, ...]
    second: tuple[FileResult, ...]


def referred(path: str, number: int, *, content: str = "", readers: Sequence[str] = ()) -> FileResult:
    """Return a referred file with a telephone number at 0 and a name at 20."""
    made = screened(path, Referral.REFERRED, (), number)
    source = replace(made.source, owner="maria", readers=tuple(readers), mode=0o100640)
    kinds = (EntityType.PHONE, EntityType.PERSON)
    return replace(
        made,
        source=source,
        content_hash=content or made.content_hash,
        n_chars=500,
        n_people=3,
        findings=tuple(finding(kind, place, number) for place, kind in enumerate(kinds)),
    )


def scans() -> Scans:
    same = referred("wards/same.txt", 1, readers=NURSES)
    moved = referred("wards/old place.txt", 2)
    gone = referred("wards/gone.txt", 3)
    before = screened("wards/changed.txt", Referral.CLEAR, (), 4)
    locked = failed("wards/locked.pdf", number=5)
    judged = screened("wards/judged anew.txt", Referral.PII_ONLY, (), 6)
    dropped = referred("wards/dropped.txt", 7)
    copy = referred("wards/copy of same.txt", 9, content=same.content_hash, readers=("everyone",))
    return Scans(
        (same, moved, gone, before, locked, judged, dropped),
        (
            same,
            referred("clinic/new place.txt", 8, content=moved.content_hash),
            referred("wards/changed.txt", 4, content="f" * 64),
            screened("wards/locked.pdf", Referral.CLEAR, (), 5),
            referred("wards/judged anew.txt", 6, content=judged.content_hash),
            replace(
                screened("wards/dropped.txt", Referral.PII_ONLY, (), 7), content_hash=dropped.content_hash
            ),
            copy,
        ),
    )


def two_scans(folder: Path) -> Made:
    """Make a database of two complete scans of one share."""
    return scanned_twice(new_database(folder / "phiscan.db"))


def scanned_twice(database: Database) -> Made:
    store = Store(database)
    made = scans()
    number = 0
    for results, now, rules in ((made.first, NOW, "one"), (made.second, AFTER, "two")):
        versions = {**VERSIONS, "rules": rules}
        number = store.begin_scan((b"/srv/share",), versions=versions, options={}, now=now).id
        store.record(number, f"key {rules}", results)
        store.finish_scan(number, status="complete", seconds=1.0, now=now + timedelta(minutes=1))
    return Made(database, number, made.second)


def day_at_the_desk(made: Made) -> None:
    """Decide, undo, look at a text, correct, suppress, disagree, settle and sign; with the canary in each."""
    store = Store(made.database)
    desk = store.desk
    desk.set_policy(second_review=1.0, hide_limit=100, by="lena", now=DAY)
    same, changed = store.find("wards/same.txt"), store.find("wards/changed.txt")
    moved, copy = store.find("clinic/new place.txt"), store.find("wards/copy of same.txt")
    free = {"reason": CANARY, "note": CANARY}
    for number in (same, changed, moved):
        desk.decide(number, Verdict.PHI, reviewer="ana", now=DAY, **free)
    desk.decide(same, Verdict.PHI, reviewer="ben", now=DAY + timedelta(hours=1), **free)
    desk.decide(changed, Verdict.NOT_PHI, reviewer="ben", now=DAY + timedelta(hours=1), **free)
    (open_one,) = desk.disagreements(lead="lena")
    desk.adjudicate(open_one.id, Verdict.PHI, lead="lena", now=DAY + timedelta(hours=2), **free)
    desk.decide(copy, Verdict.PHI, reviewer="ana", now=DAY, **free)
    desk.undo(copy, by="ana", now=DAY + timedelta(hours=1))
    for who in ("ana", "ana", "ben"):
        desk.reveal(same, purpose=CANARY, by=who, now=DAY)
    seen = desk.item(same, viewer="ana", now=DAY).examination_id
    correcting = {"seen": seen, "reviewer": "ana", "now": DAY}
    desk.correct(same, Mark.WRONG_TYPE, position=0, entity_type=EntityType.FAX, **correcting)
    desk.correct(same, Mark.MISSED, span=Span(100, 110), entity_type=EntityType.MRN, **correcting)
    desk.complete_spans(same, **correcting)
    desk.correct_topics(same, ["Respiratory system", CANARY], **correcting)
    found = store.item(store.find("wards/judged anew.txt")).findings
    root = desk.item(same, viewer="ana", now=DAY).root_id
    by_rule = SuppressionScope(kind=SuppressionKind.RULE, target="ca.phone.1", root_id=root, folder="wards")
    by_value = SuppressionScope(
        kind=SuppressionKind.VALUE, target=found[0].identity, preview="XXX-9999", root_id=root, folder="wards"
    )
    everywhere = SuppressionScope(kind=SuppressionKind.RULE, target="ca.phone.2")
    until = DAY + timedelta(days=30)
    desk.suppress([by_rule], reason=CANARY, until=until, by="ana", now=DAY)
    (lifted,) = desk.suppress([by_value], reason=CANARY, until=until, by="ana", now=DAY)
    desk.lift_suppression(lifted.id, by="ben", now=DAY, reason=CANARY)
    (broad,) = desk.suppress([everywhere], reason=CANARY, until=until, by="ana", now=DAY)
    desk.approve_suppression(broad.id, lead="lena", now=DAY)
    desk.suppress([by_value], reason=CANARY, until=DAY + timedelta(hours=1), by="ana", now=DAY)
    head = store.verify_audit().head
    store.users.sign_log(head=head, note=CANARY, reviewer="olga", now=DAY)
