"""Suppressions: what they hide, who must approve, how they end; they never touch counts of what was found."""

from dataclasses import replace

import pytest

from phiscan.errors import ConflictError, InputError
from phiscan.health.file_evidence import CONTACT, DIRECT, NAMES, RECORD
from phiscan.model import EntityType, Verdict, bits_of
from phiscan.pipeline.signature import signature
from phiscan.review.decisions.suppressions import SuppressionKind, SuppressionScope
from phiscan.review.store import Store
from phiscan.review.worklist.model import NOT_BY_THEMSELVES, WorkFilter, WorkState
from tests.review.desk import ANY, agrees_with_the_truth, listed
from tests.review.results import NOW, finding, later, referred, scan

HIDDEN = WorkFilter(suppressed=True)
SWITCHBOARD = finding("613-555-0100")
NAME = finding("Ann Ex", start=40, kind=EntityType.PERSON)
PLACE = finding("Ottawa", start=60, kind=EntityType.LOCATION)
END = later(60 * 24 * 30)


def scope(**changes: object) -> SuppressionScope:
    base = SuppressionScope(
        kind=SuppressionKind.VALUE,
        target=SWITCHBOARD.identity,
        preview=SWITCHBOARD.preview,
        root_id=1,
        folder="forms",
    )
    return replace(base, **changes)


@pytest.fixture
def forms(store: Store) -> Store:
    """1, 2: nothing but the switchboard; 3: a name too; 4, 6: elsewhere; 5: with a place."""
    scan(
        store,
        [
            replace(referred("forms/1.txt"), findings=(SWITCHBOARD,)),
            replace(referred("forms/2.txt"), findings=(SWITCHBOARD, replace(SWITCHBOARD, locator="#p2"))),
            replace(referred("forms/3.txt"), findings=(SWITCHBOARD, NAME)),
            replace(referred("letters/4.txt"), findings=(SWITCHBOARD,)),
            replace(referred("forms/deep/5.txt"), findings=(SWITCHBOARD, PLACE)),
            replace(referred("forms2/6.txt"), findings=(SWITCHBOARD,)),
        ],
    )
    return store


def test_hides_only_what_nothing_else_would_refer(forms: Store) -> None:
    preview = forms.desk.preview_suppression([scope()], now=NOW)
    assert (preview.n_hidden, preview.n_matched, preview.needs_approval) == (3, 4, False)
    assert [path for _, path in preview.examples] == ["forms/1.txt", "forms/2.txt", "forms/deep/5.txt"]
    assert listed(forms) == [1, 2, 3, 4, 5, 6]  # a preview changes nothing
    (made,) = forms.desk.suppress([scope()], reason="the switchboard", until=END, by="ana", now=NOW)
    assert (made.n_hidden, made.status) == (3, "active")
    assert (listed(forms), listed(forms, HIDDEN)) == ([3, 4, 6], [1, 2, 5])
    counts = forms.desk.counts(viewer="ana", now=NOW)
    assert (counts.by_state[WorkState.UNDECIDED], counts.suppressed) == (3, 3)
    assert forms.desk.left().undecided == 6  # an estimate counts what is hidden
    assert (forms.queue_size(), len([*forms.present_rows()])) == (6, 6)
    assert agrees_with_the_truth(forms)


LETTER = " ".join(f"the patient of ward {number} was seen in the clinic" for number in range(60))
KEY = b"k" * 32


def test_a_wording_hides_files_like_it_whatever_they_hold_and_those_that_arrive(store: Store) -> None:
    signatures = {
        "forms/1.txt": signature(LETTER, KEY),
        "forms/2.txt": signature(LETTER + " by Dr. Roy", KEY),
        "forms/3.txt": signature("nothing like it at all, but a list of other words of some length", KEY),
        "letters/4.txt": signature(LETTER, KEY),
        "forms/5.txt": b"",
    }
    results = [replace(referred(name), signature=made, findings=(NAME,)) for name, made in signatures.items()]
    scan(store, results)
    template = store.desk.template_of(1)
    assert bytes.fromhex(template) == signatures["forms/1.txt"]
    assert store.desk.template_of(5) == ""
    alike = scope(kind=SuppressionKind.TEMPLATE, target=template, preview="")
    assert store.desk.preview_suppression([alike], now=NOW).n_hidden == 2
    (made,) = store.desk.suppress([alike], reason="a form", until=END, by="ana", now=NOW)
    assert (listed(store), listed(store, HIDDEN)) == ([3, 4, 5], [1, 2])
    assert agrees_with_the_truth(store)
    new = replace(referred("forms/6.txt"), signature=signatures["forms/2.txt"], findings=(NAME, SWITCHBOARD))
    scan(store, [*results, new])
    assert listed(store, HIDDEN) == [1, 2, 6]
    store.desk.lift_suppression(made.id, by="bo", now=NOW)
    assert listed(store, HIDDEN) == []
    with pytest.raises(InputError, match="hexadecimal"):
        store.desk.preview_suppression([replace(alike, target="no signature")], now=NOW)


def test_two_suppressions_together_hide_until_the_first_ends(forms: Store) -> None:
    forms.desk.suppress([scope()], reason="r", until=END, by="ana", now=NOW)
    other = scope(target=NAME.identity, preview=NAME.preview)
    assert forms.desk.preview_suppression([other], now=NOW).n_hidden == 1
    forms.desk.suppress([other], reason="r", until=later(60), by="ana", now=NOW)
    assert listed(forms, HIDDEN) == [1, 2, 3, 5]
    assert listed(forms, HIDDEN, now=later(60)) == [1, 2, 5]
    assert listed(forms, HIDDEN, now=END) == []
    assert {one.status for one in forms.desk.suppressions(now=END)} == {"ended"}


def test_a_new_file_is_hidden_and_a_changed_one_is_not(forms: Store) -> None:
    forms.desk.suppress([scope()], reason="r", until=END, by="ana", now=NOW)
    new = replace(referred("forms/7.txt"), findings=(SWITCHBOARD,))
    changed = replace(referred("forms/1.txt", content="new"), findings=(SWITCHBOARD, NAME))
    scan(forms, [new, changed], minutes=1, complete=False)
    assert listed(forms, HIDDEN) == [2, 5, 7]
    assert agrees_with_the_truth(forms)


def test_a_rule_in_a_folder(forms: Store) -> None:
    rule = scope(kind=SuppressionKind.RULE, target="us.phone.1", preview="", folder="letters/")
    assert forms.desk.suppress([rule], reason="r", until=END, by="ana", now=NOW)[0].scope.folder == "letters"
    assert listed(forms, HIDDEN) == [4]


def test_lifting_brings_everything_back_and_stays_on_record(forms: Store) -> None:
    (made,) = forms.desk.suppress([scope()], reason="r", until=END, by="ana", now=NOW)
    forms.desk.lift_suppression(made.id, by="bob", now=later(1), reason="moved")
    assert listed(forms) == [1, 2, 3, 4, 5, 6]
    (one,) = forms.desk.suppressions(now=later(1))
    assert (one.status, one.made_by, one.lifted_by) == ("lifted", "ana", "bob")
    with pytest.raises(ConflictError, match="lifted before, by bob"):
        forms.desk.lift_suppression(made.id, by="ana", now=later(2))
    with pytest.raises(InputError, match="suppression 99: there is none"):
        forms.desk.lift_suppression(99, by="ana", now=later(2))
    check = forms.verify_audit()
    assert (check.ok, check.n_rows) == (True, 2)


@pytest.mark.parametrize(
    ("broad", "limit", "why"),
    [
        ({"root_id": None, "folder": ""}, 20, "every share"),
        ({"folder": ""}, 20, "a whole share"),
        ({}, 2, "would hide 3 items"),
    ],
)
def test_a_broad_one_waits_for_a_lead(forms: Store, broad: dict[str, object], limit: int, why: str) -> None:
    desk = forms.desk
    desk.set_policy(second_review=0.0, hide_limit=limit, by="eve", now=NOW)
    assert why in desk.preview_suppression([scope(**broad)], now=NOW).why
    (made,) = desk.suppress([scope(**broad)], reason="r", until=END, by="ana", now=NOW)
    assert (made.status, listed(forms, HIDDEN)) == ("waiting", [])
    with pytest.raises(InputError, match="somebody other than ana"):
        desk.approve_suppression(made.id, lead="ana", now=NOW)
    desk.approve_suppression(made.id, lead="eve", now=NOW)
    assert len(listed(forms, HIDDEN)) == made.n_hidden >= 3
    with pytest.raises(ConflictError, match="it is active"):
        desk.approve_suppression(made.id, lead="eve", now=NOW)
    assert agrees_with_the_truth(forms)


def test_refuses_a_scope_that_names_nothing(forms: Store) -> None:
    for changes, words in (
        ({"target": " "}, "target: expected the identity or the rule"),
        ({"preview": "Ann"}, "preview: expected the masked shape"),
        ({"root_id": None}, "root: expected the share of the folder"),
        ({"root_id": 9}, "root: there is no share of number 9"),
    ):
        with pytest.raises(InputError, match=words):
            forms.desk.preview_suppression([scope(**changes)], now=NOW)
        with pytest.raises(InputError, match=words):
            forms.desk.suppress([scope(**changes)], reason="r", until=END, by="ana", now=NOW)


def test_needs_a_reason_and_an_end_to_come(forms: Store) -> None:
    with pytest.raises(InputError, match="reason: expected why"):
        forms.desk.suppress([scope()], reason=" ", until=END, by="ana", now=NOW)
    with pytest.raises(InputError, match="until: expected a day to come"):
        forms.desk.suppress([scope()], reason="r", until=NOW, by="ana", now=NOW)
    assert forms.desk.suppressions(now=NOW) == ()


def test_never_hides_a_blind_item_nor_what_was_decided(forms: Store) -> None:
    forms.desk.decide(1, Verdict.PHI, reviewer="bob", now=NOW)
    forms.desk.draw_sample(n_queued=5, n_unreferred=0, by="eve", now=NOW)
    assert forms.desk.preview_suppression([scope()], now=NOW).n_matched == 0
    forms.desk.suppress([scope()], reason="r", until=END, by="ana", now=NOW)
    assert listed(forms) == [2, 3, 4, 5, 6]
    assert listed(forms, replace(ANY, suppressed=True)) == [1]


def test_what_stays_hidden_identifies_nobody() -> None:
    for kind in NOT_BY_THEMSELVES:
        assert not bits_of(kind) & (NAMES | DIRECT | RECORD | CONTACT)
        assert kind is not EntityType.DATE_OF_BIRTH
