import math
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from phiscan.metrics.capture_recapture.two_list import chapman
from phiscan.metrics.elusion import elusion
from phiscan.metrics.remaining import remaining
from phiscan.metrics.screening import relative, tdp_frp
from phiscan.model import OCR_PENDING, FailReason, PiiBit, Referral, UnreadPart, Verdict
from phiscan.report.gather import ReportData
from phiscan.report.rendering.html import render
from phiscan.review.store import Store
from tests.report.synthetic import (
    NOW,
    Fill,
    captured,
    data_of,
    decide,
    decide_referred,
    failed,
    fill,
    marked,
    screened,
    share,
    skipped,
)
from tests.review.samples import members


@pytest.fixture(scope="module")
def halves(tmp_path_factory: pytest.TempPathFactory) -> tuple[ReportData, ReportData]:
    """Report on 600 files while half of the referred ones are decided, and when all are."""
    made = fill(tmp_path_factory.mktemp("halves"), share(600))
    decide_referred(made, share_decided=0.5)
    before = data_of(made)
    decide_referred(made)
    after = data_of(made)
    made.database.close()
    return before, after


def paper_share() -> tuple[list[Any], dict[str, Verdict]]:
    """The 123 files of the paper's section 6: organizations 71/4/48, street addresses 75/3/45."""
    both_phi, both_not = 70, 3
    kinds = (
        [({PiiBit.ORGANIZATION, PiiBit.STREET_ADDRESS}, Verdict.PHI)] * both_phi
        + [({PiiBit.ORGANIZATION}, Verdict.PHI)] * (71 - both_phi)
        + [({PiiBit.STREET_ADDRESS}, Verdict.PHI)] * (75 - both_phi)
        + [({PiiBit.ORGANIZATION, PiiBit.STREET_ADDRESS}, Verdict.NOT_PHI)] * both_not
        + [({PiiBit.ORGANIZATION}, Verdict.NOT_PHI)] * (4 - both_not)
    )
    results, verdicts = [], {}
    for number in range(123):
        path = f"disk/{number}.doc"
        if number < len(kinds):
            bits, verdicts[path] = kinds[number]
            results.append(screened(path, Referral.REFERRED, tuple(bits), number))
        else:
            results.append(screened(path, Referral.CLEAR, (), number))
    return results, verdicts


def test_reproduces_tables_3_and_4_of_the_paper(filled: Fill) -> None:
    results, verdicts = paper_share()
    made = filled(results)
    found = {c.name: c for c in decide(made, verdicts).characteristics}
    organization, street = found["OrganizationName"], found["StreetAddress"]
    assert (organization.phi, organization.not_phi, organization.negative) == (71, 4, 48)
    assert (street.phi, street.not_phi, street.negative) == (75, 3, 45)
    assert round(organization.tdp.value or 0, 3) == 0.577
    assert round(organization.frp.value or 0, 3) == 0.033
    assert round(street.tdp.value or 0, 3) == 0.610
    assert round(street.frp.value or 0, 3) == 0.024
    assert street.relative_tdp.value == 1
    assert organization.reference == "StreetAddress"
    assert organization.relative_tdp == relative((71, 4), (75, 3), both=(70, 3)).rtdp


def test_takes_every_figure_from_the_metrics(halves: tuple[ReportData, ReportData]) -> None:
    _, data = halves
    for found in (data.overall, *data.characteristics, *data.detectors):
        rest = found.n - found.phi - found.not_phi
        expected = tdp_frp(found.phi, found.not_phi, rest)
        assert (found.tdp, found.frp, found.ppv) == (expected.tdp, expected.frp, expected.ppv)
        assert found.positive == found.phi + found.not_phi + found.unverified
        assert found.n == found.positive + found.negative == data.funnel.read
    for pair in data.capture.pairs:
        assert pair.chapman == chapman(pair.both, pair.only_first, pair.only_second)


def test_bounds_what_the_open_verdicts_can_still_change(halves: tuple[ReportData, ReportData]) -> None:
    before, after = halves
    assert before.overall.unverified > 0
    assert before.overall.final_tdp.low == before.overall.tdp.value
    assert after.overall.unverified == 0
    later = {c.name: c for c in after.characteristics}
    of_each = [(c, later[c.name]) for c in before.characteristics]
    for early, late in ((before.overall, after.overall), *of_each):
        assert early.final_tdp.low <= late.tdp.value <= early.final_tdp.high
        assert early.final_frp.low <= late.frp.value <= early.final_frp.high
    assert after.overall.final_tdp.low == after.overall.final_tdp.high == after.overall.tdp.value


def test_says_null_and_why_when_nothing_was_reviewed(filled: Fill) -> None:
    data = data_of(filled(share(300)))
    for found in (data.overall, *data.characteristics):
        for figure in (found.tdp, found.frp, found.ppv):
            assert figure.value is None
            assert figure.reason
    assert data.overall.final_tdp.low == 0
    assert data.overall.final_tdp.high == data.overall.positive / data.overall.n
    assert data.capture.reason
    rest = data.remaining.missed_in_rest
    assert (rest.expected, rest.upper) == (None, rest.files)
    assert rest.reason
    assert all(headline.value is None and headline.reason for headline in data.headlines[:-1])


def test_an_unsure_verdict_verifies_nothing(filled: Fill) -> None:
    made = filled([screened("a.txt", Referral.REFERRED), screened("b.txt", Referral.REFERRED)])
    data = decide(made, {"a.txt": Verdict.UNSURE})
    assert data.overall.tdp.value is None
    assert (data.overall.unsure, data.overall.unverified) == (1, 2)
    assert (data.funnel.unsure, data.funnel.undecided) == (1, 1)


def test_nothing_referred_is_a_true_zero_and_an_empty_share_has_no_number(filled: Fill) -> None:
    data = data_of(filled([screened(f"{n}.txt", Referral.CLEAR) for n in range(9)]))
    assert data.overall.tdp.value == 0
    assert data.overall.ppv.value is None
    assert data.overall.ppv.reason
    data = data_of(filled([]))
    assert data.coverage.crawled == 0
    assert data.coverage.read_share.value is None
    assert data.overall.tdp.value is None
    assert data.overall.final_tdp.reason


def test_everything_failed_reads_nothing_and_lists_all(filled: Fill) -> None:
    data = data_of(filled([failed(f"{n}.pdf", FailReason.CORRUPT, n) for n in range(7)]))
    assert (data.coverage.read, data.coverage.not_read) == (0, 7)
    assert data.coverage.read_share.value == 0
    assert data.overall.tdp.reason == data.overall.ppv.reason == "no file was read"
    assert [entry.reason for entry in data.coverage.unread] == ["corrupt"] * 7
    assert (data.remaining.unread, data.remaining.safe) == (7, False)
    assert data.overall.tdp.value is None


def test_coverage_adds_up(filled: Fill) -> None:
    made = filled([*share(300), failed("x.pdf"), skipped("y.txt")])
    coverage = data_of(made).coverage
    skipped_, failed_ = sum(coverage.skipped.values()), sum(coverage.failed.values())
    assert coverage.crawled == coverage.screened + coverage.unchanged + skipped_ + failed_ == 302
    whole = [entry for entry in coverage.unread if not entry.locator]
    assert len(whole) == failed_ == coverage.not_read
    assert len(coverage.unread) - len(whole) == coverage.unread_parts


def test_a_changed_file_needs_a_new_verdict(filled: Fill) -> None:
    first = screened("a.txt", Referral.REFERRED)
    made = filled([first])
    decide(made, {"a.txt": Verdict.PHI})
    store = Store(made.database)
    state = store.begin_scan([b"/srv/share"], versions={"rules": "2"}, options={}, now=NOW)
    store.record(state.id, "key2", [replace(first, content_hash="0" * 64)])
    store.finish_scan(state.id, status="complete", seconds=1, now=NOW + timedelta(hours=1))
    data = data_of(made)
    assert data.funnel.undecided == 1
    assert [row.standing for row in data.decisions] == [False]
    assert data_of(made, scan_id=made.scan).funnel.phi == 1


def test_counts_superseded_decisions_apart(filled: Fill) -> None:
    made = filled([screened("a.txt", Referral.REFERRED)])
    decide(made, {"a.txt": Verdict.PHI}, "A. Officer")
    officer, lead = decide(made, {"a.txt": Verdict.NOT_PHI}, "B. Lead").reviewers
    assert (officer.phi, officer.superseded) == (0, 1)
    assert (lead.not_phi, lead.superseded) == (1, 0)


def test_copies_of_one_content_put_the_same_people_at_risk(filled: Fill) -> None:
    one = screened("a.txt", Referral.REFERRED)
    copy = replace(screened("b.txt", Referral.REFERRED, number=2), content_hash=one.content_hash)
    data = data_of(filled([replace(one, n_people=3), replace(copy, n_people=3)]))
    assert data.people.at_risk == 3


def test_the_sample_is_the_desks(filled: Fill) -> None:
    """The bound is that of the desk: with a gap and PHI after it, unsure as PHI, and PHI found elsewhere."""
    made = filled([screened(f"{n}.txt", Referral.CLEAR, number=n) for n in range(400)])
    store = Store(made.database)
    assert data_of(made).elusion.reviewed == 0
    store.desk.draw_sample(n_queued=0, n_unreferred=100, by="B", now=NOW)
    order = members(made.database, referred=False)
    gap = [(number, Verdict.NOT_PHI) for number in order[:57] if number != order[39]]
    store.decide_all([*gap, (order[57], Verdict.PHI), (order[58], Verdict.UNSURE)], reviewer="A", now=NOW)
    data = data_of(made)
    assert (data.elusion.population, data.elusion.drawn) == (400, 100)
    assert (data.elusion.reviewed, data.elusion.found) == (58, 2)
    known = remaining(store.desk.left())
    assert data.remaining == known
    limit = elusion(400, 59, 3, sequential=True).upper_sequential or 0
    assert known.missed_in_rest.upper == min(limit - 1, 400 - 57)
    assert data.headlines[-1].sentence.startswith(known.missed_in_rest.words)
    store.decide_all([(order[39], Verdict.NOT_PHI)], reviewer="A", now=NOW)
    assert data_of(made).remaining.missed_in_rest.upper < known.missed_in_rest.upper


def test_distrusts_a_model_that_known_misses_contradict(filled: Fill) -> None:
    kinds = [(True, True, True)] * 30 + [(True, True, False)] * 5 + [(False, True, True)] * 5
    kinds += [(True, False, False)] * 2 + [(False, False, True)] * 2 + [(False, False, False)] * 20
    capture = captured(filled, marked(kinds))
    assert (capture.outside, capture.counts["111"]) == (20, 30)
    assert capture.models is not None
    assert capture.models.averaged is not None
    assert capture.models.averaged.missed < 20
    assert any("not to be used" in warning for warning in capture.warnings)


def test_warns_of_detectors_that_depend_on_each_other(filled: Fill) -> None:
    kinds = [(True, True, True)] * 40 + [(False, False, True)] * 40 + [(True, True, False)] * 9
    capture = captured(filled, marked(kinds))
    found = {(pair.first, pair.second): pair for pair in capture.pairs}
    assert found["patterns", "names"].compared == 80
    assert found["patterns", "names"].dependence == pytest.approx(math.log(2))
    assert found["patterns", "names"].p_value < 1e-20  # exact: all 80 verdicts agree
    assert [w for w in capture.warnings if "patterns and names are not independent" in w]
    # Where they depend, simulations showed that the intervals do not hold the truth: the report says so.
    assert any("held the truth far less often than 95%" in warning for warning in capture.warnings)


def test_warns_when_marked_files_are_not_verified(halves: tuple[ReportData, ReportData]) -> None:
    capture = halves[0].capture
    assert capture.open > 0
    assert any("too low" in warning for warning in capture.warnings)
    assert capture.models is not None
    assert len(capture.models.models) == 8


def test_report_says_how_many_files_and_pages_wait_for_ocr(filled: Fill) -> None:
    pages = tuple(UnreadPart(f"#p{n}", FailReason.NEEDS_OCR, OCR_PENDING) for n in (2, 3))
    made = filled(
        [
            replace(failed("photo.png", FailReason.NEEDS_OCR), detail=OCR_PENDING),
            replace(screened("half.pdf", Referral.CLEAR, number=2), unread=pages),
            replace(screened("found.pdf", Referral.REFERRED, number=3), unread=pages),  # needs no more pages
            failed("no reader.png", FailReason.NEEDS_OCR, number=4),  # tesseract was not installed
        ]
    )
    data = data_of(made)
    assert (data.coverage.ocr_files, data.coverage.ocr_parts) == (2, 3)
    sentence = "2 files with 3 pages and pictures wait for OCR"
    assert sum(one.startswith(sentence) for one in data.limits) == 1
    _, _, coverage = render(data).partition('<section id="coverage">')
    assert sentence in coverage.partition("</section>")[0]
    waiting = data_of(filled([screened("a.txt", Referral.CLEAR), failed("b.zip", number=2)]))
    assert (waiting.coverage.ocr_files, "for OCR" in "".join(waiting.limits)) == (0, False)
