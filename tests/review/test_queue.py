"""The queue: its order, who is in it, what one item explains, how a file is named."""

from dataclasses import replace

import pytest

from phiscan.errors import InputError
from phiscan.model import PiiVector, Verdict
from phiscan.review.store import Store
from phiscan.review.worklist.model import WorkFilter, risk_of
from tests.review.results import IDENTIFYING, NOW, clear, referred, scan


def paths(store: Store, **options: object) -> list[str]:
    return [item.path for item in store.queue(**options)]  # type: ignore[arg-type]


def test_orders_equal_risk_by_path_and_pages_through_it(store: Store) -> None:
    names = [f"{n:03}.txt" for n in range(25)]
    scan(store, [referred(name) for name in reversed(names)])
    paged = [path for offset in range(0, 30, 10) for path in paths(store, limit=10, offset=offset)]
    assert paged == names
    assert store.queue_size() == 25


def test_filters_by_verdict(store: Store) -> None:
    scan(store)
    store.decide_all([(store.find("a/letter.txt"), Verdict.PHI)], reviewer="ada", now=NOW)
    assert paths(store, verdicts=[None]) == ["c/referral.txt"]
    assert paths(store, verdicts=[Verdict.PHI]) == ["a/letter.txt"]
    assert paths(store, verdicts=[Verdict.PHI, None]) == ["c/referral.txt", "a/letter.txt"]  # undecided first
    assert paths(store, verdicts=[Verdict.UNSURE]) == []
    assert store.queue_size(verdicts=[None]) == 1


def test_filters_by_sensitivity_label_except_what_is_reviewed_blind(store: Store) -> None:
    label = ("2096f6a2-d2f7-48be-b329-b73aaa526e5d", "Très secret")
    scan(store, [replace(referred("a.txt"), labels=(label,)), referred("b.txt"), clear("c.txt")])
    for words in label:
        (found,) = store.queue(wanted=WorkFilter(label=words))
        assert (found.path, found.labels) == ("a.txt", (label,))
        assert store.desk.size(WorkFilter(label=words), viewer="ada", now=NOW) == 1
    assert store.queue(wanted=WorkFilter(label="secret")) == []
    store.desk.draw_sample(n_queued=2, n_unreferred=0, by="ada", now=NOW)
    assert store.desk.size(WorkFilter(label=label[1]), viewer="ada", now=NOW) == 0


def test_finds_a_name_that_is_not_text_by_its_bytes_and_by_its_display(store: Store) -> None:
    odd = referred("x")
    scan(store, [replace(odd, source=replace(odd.source, path=b"caf\xe9.txt"))])
    for name in ("caf\\xe9.txt", "caf\udce9.txt", "/share/caf\\xe9.txt", "/share/caf\udce9.txt"):
        assert store.find(name) == 1


def test_refuses_unknown_and_ambiguous_names(store: Store) -> None:
    scan(store)
    scan(store, [referred("a/letter.txt", root=b"/other")], root=b"/other", minutes=5)
    for name in ("nowhere.txt", "", "999", "²", "9" * 30, "/share/nowhere.txt"):
        with pytest.raises(InputError, match="no such file"):
            store.find(name)
    with pytest.raises(
        InputError, match="2 files have this path; expected an absolute path, under one of /other, /share"
    ):
        store.find("a/letter.txt")
    assert store.find("/share/a/letter.txt") != store.find("/other/a/letter.txt")


def test_of_nested_roots_finds_the_file_seen_last(store: Store) -> None:
    scan(store)
    scan(store, [referred("letter.txt", root=b"/share/a")], root=b"/share/a", minutes=5)
    assert store.item(store.find("/share/a/letter.txt")).root == "/share/a"


@pytest.mark.parametrize(
    ("bits", "people", "score", "risk"),
    [(IDENTIFYING, 4, 0.5, 6.0), (frozenset(), 0, 1.0, 1.0), (IDENTIFYING, 1, None, 0.03)],
)
def test_risk_is_kinds_times_people_times_score(
    bits: frozenset[object], people: int, score: float | None, risk: float
) -> None:
    assert risk_of(PiiVector(bits), people, score) == pytest.approx(risk)  # type: ignore[arg-type]
