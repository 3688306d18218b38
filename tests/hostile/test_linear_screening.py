"""Screening and classifying take time in proportion to the text, whatever stands on its one long line."""

import json
import time
from collections.abc import Callable
from functools import cache

import pytest

from phiscan.config import Config
from phiscan.health.classifier import Classifier, build_classifier, classify
from phiscan.model import Document, Segment
from phiscan.screen import Screener, build_screener, screen
from training.decision.features import detect

N_CHARS = 16_000
MAX_RATIO = 2.5  # times linear time; quadratic is 4 to 16; a machine with other work to do blurs both
FLOOR_S = 0.005  # below, the clock measures noise; quadratic time at these sizes would be far above

UNITS = (
    "1", "1 ", "1.", "1/", "#1", "-", "@", "a,", "a@", "a.", "a@b.", "A", "Aa", '"', "O'", '"a" ', "(",
    "[{(", "J. ", "John Smith ", "John Smith, ", "Mr. Smith ", "Dr. ", "Dear ", "Hannah, Anthony, ",
    "my mother Ann ", "patricia desrosiers ", "Patient: ", "Patient name ", "Name:\n", "name: ",
    "Patient: Ann Roy\n", "* ", "MRN ", "MRN 1234567 ", "DOB ", "DOB,", "DOB  ", "DOB|", "Sincerely, ",
    "Sincerely,\n", "name,dob,phone\n", "name\tdob\n", "Name  DOB\n", "DOB,MRN\n-----\n",
    "name,x\nname\n", "Ann Roy,416-555-0199,", "416-555-0199 ", "123-45-6789 ", "1234-567-890-AB ",
    "2020-01-01 ", "January ", "12 Main Street ", "12 Main ", "12 Main St., Boston, MA 02115, ",
    "Boston, ", "in Boston ", "http://", "http://a.b/c?d=e ", "www.", "a.b@c.org ", "1.2.3.4.", "a:",
    "fe80::1 ", "PID|", "1^2~", "PID|1||2^^^H^MR||Roy^Ann\n", "diabetes ", "rue de la Montagne ",
    "General Hospital ", "Clinique de la ", "Roy & Lee, LLC ", "zorblat pharmacy ", "in Matane, ",
    "at Zorgon Care\n", ",,,,", "MRN,x\nfoo\n", "pt J.R. ", "zara and ", "jean ou ", "- ann - x\n",
    "9/4 x\n", "seen 3/4 x ", "3/4\t", "Two Bulls, ", "by sgagnon ", "lots B1190 and ", "C 24 771 ",
    "claim C 24 ", "Dr. Roy RN ", "Roy, Ann    204418    x\n",
    "acct ending ", "told Grace ", "transferred to Zorgon ", "at Mayo ", "pharmacy,x\nfoo,y\n",
    "MSH#*~\\&#", "MSH|^~\\&|A MSH#*~\\&#\n", "UNB+UNOA:1+", "UNB+UNOA:1+A+B'PNA+PAT+1'",
    '"00100010":{"vr":"PN"', '"00100010":{"Value":[', '{"00100010":{"vr":"PN","Value":["', "&eacute;", "&",
    "&#", "\\u00e9", '{"a":\\"', "\\n", "%20a", "?a=b+", "&a=%41", "=?UTF-8?Q?a?=", "=?UTF-8?B?", "=C3=A9",
    "=E9a=\n", "INSERT INTO a VALUES (", "INSERT INTO a VALUES ('", "INSERT INTO a (b) VALUES (1,'b');\n",
    "CREATE TABLE a (", "CREATE TABLE a (b int);\n", "COPY a (b) FROM stdin;\n",
    "A  B  C\n-- -- --\n", "-- ", "a b c\n- - -\n1 2 3\n", "C:\\Users\\roy\\", "user=A\\b", "uid=ann,ou=",
    '<id root="1.2.3" ', '<patientRole><id root="1.2" extension="a1"/>', '"resourceType":"Patient","id":"',
    '"reference":"a/', '"from":"ann_b"', "1.2.3.4 a b [1/",
    "1. Roy J, Lee K, et al. A b of cde. X 2019;1(2):2-3.\n", "References\nRoy J. a 1999\n", "notes\n",
    "Roy, J. (2006). ", "Abstract\nMethods\nResults\net al\nAnn Roy1, Jo Lee2, Acknowledgements\n",
    "Ann Roy et al. ", "XXX ", "A\tB\t",
    "902-S55-0117 ", "2024-0b-14 ", "12 Novembcr ", "Policy numbcr:\n", "numbcr,a,b\n", "numbcr,a,b\n1,2,3\n",
    "9Z ", "Fox 702 555 0133 ", "8 l 9 S 5 ", "MO 65b53 ", "TREM8S511412", "DOB1", "14OCT2Z", "rn", "numbcr ",
    "le 31 moi ", "2023 -03- 14 ", "31juillet ", "Mar4 ", "le12 juin ", "O6MAR", "ler avril ", "$4418-77703-",
    "Dr |. Roy ", "DOB:" + 60 * " ", "MRN: \n", "MRN:            1",
    "THUNDER BAY, ON ", "AT THE LODGE ", "12 OF THE DR ", "thunder bay ", "dr j ", "mr roy, ", "hope okafor ",
    "st-", "d'a", "AND ", "W0712 24 118803 WAS ", "employer the is ",
    "R.B. / 118204 ", "pt JT (", "ann.roy at email dot ", "NAM : TREM 1234 5678\n", "Braden Scale\n",
    "Koch, Ilse 93 F ", "ext. 14 ", "V00441879206; ",
    "Received: from a.b\n ", "X-A: Ann Roy\n b\n", "Roy (2009) ", "charts of 412 patients ",
    "Regina SK ", "Foo ON S0A 1A0 ", "Leeds, UK ", "lives in ", "lives in Foo ", "67M from Gander ",
    "Foo Nation ", "RM of ", "Fort ", "stéphane à Foo, ", "lives at 12 Elm ", "mvc at ", "Jane & ", "km 4 ",
    "5/12/1931 130-692-544 ",
    "ref 44187-B ", "tag,claim\n1,44187\n", "W04 5512 ", "Roy # 44187; ", "12345 ",
    f"{'word ' * 450}\n44187\n",
    "NH: Foo ", "CHUM ", "LSD 4-1-", "Apt 4 ", "N4512 ", "1 E 40 N ", "Urb. Foo ", "St-Foo apt 4 ",
    "1-", "MRN: ", "00:", "Aa, ", "\n", "|", "12 Aa ", "né le ", "1" * 40 + "@", "Patient:", "é", "😀",
    "A Hospital ", "St., ", "smith | phone | yes\n", "A1", "l", "l ", "l0l ", "4l8 ", "5 5 5 - O l 4 2 ",
    "MRN 33O7 l82\n", "2O24/O1/l2\n", "Ju|y l4, ", "1'a", "l0 -", "B0V lA0 ", "3VG8 - QF4 -RN5l ",
    "1111111111@", "Ol|O | ",
    "\u200f", "Ann\u200f ", "Ann Roy\u200f, ", "\u202eabc\u202c ",
)  # fmt: skip
FAST = ("Patient name ", "name,dob,phone\n", "12 Main Street ", "Ju|y l4, ")  # where it once took longer


@cache
def _engine() -> tuple[Screener, Classifier]:
    return build_screener(Config()), build_classifier(Config())


def _records(n_chars: int) -> str:
    """Return minified JSON on one line."""
    record = {"name": "Ann Roy", "dob": "1970-01-02", "phone": "416-555-0199", "note": "seen for asthma"}
    one = json.dumps(record, separators=(",", ":"))
    return "[" + ",".join([one] * (n_chars // len(one))) + "]"


def _numbers(n_chars: int) -> str:
    """Return minified JSON without anything to find, on one line."""
    one = '{"a":17,"b":[1,2,{"value":"x"}],"note":null},'
    return "[" + one * (n_chars // len(one)) + "{}]"


def _wide_table(n_chars: int) -> str:
    return "name," * 300 + "\n" + ("Ann," * 300 + "\n") * (n_chars // 1200)


def _seconds(text: str) -> float:
    """Return the processor time of one reading."""
    screener, classifier = _engine()
    document = Document(text, (Segment("", 0, len(text)),), "text/plain")
    started = time.process_time()
    screening = screen(document, screener)
    detect(document, screening, classify(document, classifier), classifier)
    return time.process_time() - started


def _ratio(make: Callable[[int], str], n_chars: int = N_CHARS) -> float:
    """Return how much longer a text takes than in proportion to a shorter one: the least of five tries.

    Later tries are only made when needed, with texts so long that windows of characters around a place are
    not cut short by their ends.
    """
    ratios = []
    for short, long in ((n_chars // 16, n_chars), *4 * ((n_chars // 2, 2 * n_chars),)):
        expected = long / short * max(_seconds(make(short)), FLOOR_S)
        ratios.append(_seconds(make(long)) / expected)
        if ratios[-1] < MAX_RATIO:
            break
    return min(ratios)


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    _seconds(
        "Patient: Ann Roy, 12 Main St., Boston, MA 02115, 416-555-0199, " + "diabetes and asthma. " * 200
    )


@pytest.mark.parametrize(
    "unit", [unit if unit in FAST else pytest.param(unit, marks=pytest.mark.slow) for unit in UNITS]
)
def test_takes_time_in_proportion_to_a_repeated_unit(unit: str) -> None:
    assert _ratio(lambda n: unit * (n // len(unit))) < MAX_RATIO


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "n_chars"), [(_records, N_CHARS), (_wide_table, N_CHARS), (_numbers, 500_000)]
)
def test_takes_time_in_proportion_to_one_long_line(make: Callable[[int], str], n_chars: int) -> None:
    assert _ratio(make, n_chars) < MAX_RATIO


@pytest.mark.parametrize("unit", [pytest.param("a,", marks=pytest.mark.slow), "Patient name "])
def test_looks_for_the_start_of_a_long_line_once(unit: str) -> None:
    assert _ratio(lambda n: unit * (n // len(unit)), 200_000) < MAX_RATIO
