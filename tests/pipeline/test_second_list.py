"""The second family speaks on a random sample and on near misses, and refers nothing."""

from dataclasses import replace

from phiscan.model import SECOND_NAMES, SECOND_NAMES_NEAR, Referral
from phiscan.pipeline.examine import examine, in_audit_sample
from phiscan.screen.ner.second_tagger import SecondNames
from tests.pipeline.harness import LETTER
from tests.pipeline.test_cascade import STAFF, document, full

NOTE = LETTER.format(first="Zantho", last="Prathewin", born="3 May 1961", card="1234 567 897", year=2009)
LEAFLET = (
    "Chest pain on exertion, type 2 diabetes mellitus, hypertension. Metformin 500 mg twice daily."
    " The patient complains of shortness of breath. Blood pressure 150/95. An echocardiogram was ordered."
    " On examination: murmur. Assessment and plan: continue metformin, start lisinopril, see again in May.\n"
)


class Says(SecondNames):
    """A second family that says what it is told, and counts how often it was asked."""

    def __init__(self, *, found: bool) -> None:
        self.found, self.n_asked = found, 0

    def finds_full_name(self, text: str) -> bool:
        self.n_asked += bool(text)
        return self.found


def test_it_speaks_on_the_sample_and_changes_nothing_else() -> None:
    second = Says(found=True)
    asking = replace(full(), second=second, second_share=0.3)
    whole = [(examine(one, full()), examine(one, asking)) for one in (document(NOTE, n) for n in range(30))]
    for plain, asked in whole:
        assert replace(asked, detectors=asked.detectors[:3]) == plain
        assert asked.referral is Referral.REFERRED
    drawn = [asked.detectors[3] for _, asked in whole if len(asked.detectors) > 3]
    assert 2 < len(drawn) < 20
    assert set(drawn) == {(SECOND_NAMES, True)}
    assert second.n_asked == len(drawn)
    none = replace(full(), second=None, second_share=1.0)
    assert len(examine(document(NOTE), none).detectors) == 3
    assert len(examine(replace(document(NOTE), content_hash=""), asking).detectors) == 3


def test_it_does_not_read_what_says_nothing_of_health() -> None:
    second = Says(found=True)
    asking = replace(full(), second=second, second_share=1.0)
    assert examine(document(STAFF), asking).detectors[3] == (SECOND_NAMES, False)
    assert second.n_asked == 0


def test_a_near_miss_is_asked_about_under_a_name_of_its_own_and_not_referred() -> None:
    asking = replace(full(), second=Says(found=True), second_share=1e-12)
    near = examine(document(LEAFLET), asking)
    assert near.referral is Referral.HEALTH_ONLY
    assert near.detectors[3:] == ((SECOND_NAMES_NEAR, True),)
    assert examine(document(STAFF), asking).detectors[3:] == ()


def test_the_sample_lies_within_the_audit_sample() -> None:
    asking = replace(full(), second=Says(found=False), second_share=0.9, audit_share=0.2)
    for number in range(20):
        one = document(NOTE, number)
        assert (len(examine(one, asking).detectors) > 3) == in_audit_sample(one, asking)
