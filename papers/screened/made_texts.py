"""Synthetic texts: letters about a patient, letters with names, health leaflets, and texts with neither."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from papers.i2b2.surrogates import names

_STREETS = ("Maple Street", "Harbour Road", "Station Avenue", "Mill Lane")
_CONDITIONS = ("asthma", "type 2 diabetes", "hypertension", "depression", "breast cancer", "pneumonia")
_DRUGS = ("metformin", "salbutamol", "ramipril", "sertraline", "warfarin", "amoxicillin")
# One text per item; lines of a text are joined by line ends.
_PHI = (
    ("{org} Hospital , Outpatient Clinic",
     "Re : {first} {last} , born {n1} May 19{n9} , {n} {street} , {town}",
     "MRN {n}{n}{n}", "Dear Dr. {last2} ,",
     "Thank you for referring this patient , who has {condition} . She complained of {medical}",
     "for {n1} weeks . On examination she was well . I have started {drug} . I will see her in {n1} weeks .",
     "Yours , Dr. {first2} {last2}"),
    ("To : benefits office",
     "My husband {first} {last} , {n} {street} , {town} , was admitted on {n1} June with",
     "{condition} and takes {drug} . He cannot work . His doctor is Dr. {first2} {last2} , 555-01{nn} .",
     "Please send the forms . {first2} {last}"),
    ("Laboratory report", "Patient : {last} , {first}     DOB : 0{n1}/1{n1}/19{n9}     Phone 555-01{nn}",
     "Ordered by : Dr. {first2} {last2}", "Glucose 11.{n1} H    Creatinine {n}    HbA1c 8.{n1} %",
     "Comment : consistent with {condition} , on {drug} ."),
)  # fmt: skip
_PII = (
    ("Dear {title} {last} ,",
     "Thank you for your order {n} of {word} . It will be sent to {n} {street} , {town} .",
     "Please call 555-01{nn} with questions .", "{first} {last2} , {org} Trading Company"),
    ("Minutes of the {word} meeting", "Present : {first} {last} , {first2} {last2}",
     "1 . The {word} of {town} was discussed .", "2 . {last} will write to {org} Trading Company ."),
    ("From : {first} {last} <{first}.{last}@example.org>", "To : {first2} {last2}", "Subject : {word}",
     "Hi {first2} , the {word} is attached . See you at {n} {street} on Friday . {first}"),
    ("Invoice {n}", "Bill to : {first} {last} , {n} {street} , {town}", "{word} {n}.00", "Total {n}.50"),
    ("Curriculum vitae", "{first} {last} , {n} {street} , {town} , telephone 555-01{nn}",
     "Worked for {org} Trading Company as a teacher of {word} . Languages : English ."),
    ("School assignment by {first} {last}",
     "The {word} of {town} is old . The {word} and the {word} are alike ."),
)  # fmt: skip
_HEALTH = (
    ("What is {medical} ?",
     "Many people live with {condition} . Symptoms may include {medical} and {medical} .",
     "Ask a pharmacist before you take {drug} . Drink water and rest ."),
    ("Leaflet : {condition} and you", "{condition} is often treated with {drug} .",
     "Side effects are {medical} and tiredness ."),
    ("Lecture notes", "The pathology of {condition} : {medical} , then {medical} . Exam in June ."),
    ("Policy on {medical}",
     "Staff report every case of {medical} within a day . Stocks of {drug} are checked ."),
)  # fmt: skip
_NEITHER = (
    ("Chapter {n}",
     "The {word} stood near the {word} , and nobody had seen the {word} since spring . It was a {word}",
     "of some {word} , they said , and the {word} went on ."),
    ("Readme", "Install the {word} first . Then run the {word} with {n} threads . Errors go to the {word} ."),
    ("Recipe : {word} with {word}", "Take {n} grams of {word} , add {word} , and wait for {n} minutes ."),
    ("Advertisement", "New {word} ! Buy one {word} and get a {word} for half the price until Sunday ."),
    ("Timetable", "{n}:10 {word}", "{n}:40 {word}", "No service on holidays ."),
)  # fmt: skip
_TEMPLATES = {"PHI": _PHI, "PII_ONLY": _PII, "HI_ONLY": _HEALTH, "NEITHER": _NEITHER}


def make_text(label: str, random: Random, words: Sequence[str], medical: Sequence[str]) -> str:
    """Return a text of a label, one to five parts, filled with random words and names.

    >>> make_text("NEITHER", Random(1), ["kettle"], ["gout"]).count("{")
    0
    """
    n_parts = random.randrange(2, 6) if label in {"HI_ONLY", "NEITHER"} else 1
    parts = random.choices(_TEMPLATES[label], k=n_parts)
    return "\n\n".join(_fill("\n".join(part), random, words, medical) for part in parts)


def _fill(text: str, random: Random, words: Sequence[str], medical: Sequence[str]) -> str:
    first, second, last, last2, org, town = (
        random.choice(names(which)).capitalize()
        for which in ("first_names", "first_names", "last_names", "last_names", "last_names", "towns")
    )
    fixed = {
        "{title}": random.choice(("Mr.", "Ms.")),
        "{first}": first,
        "{first2}": second,
        "{last}": last,
        "{last2}": last2,
        "{org}": org,
        "{town}": town,
        "{street}": random.choice(_STREETS),
        "{condition}": random.choice(_CONDITIONS),
        "{drug}": random.choice(_DRUGS),
    }
    for slot, value in fixed.items():
        text = text.replace(slot, value)
    makers: dict[str, Callable[[], str]] = {
        "{word}": lambda: random.choice(words),
        "{medical}": lambda: random.choice(medical),
        "{nn}": lambda: f"{random.randrange(100):02d}",
        "{n9}": lambda: str(random.randrange(30, 99)),
        "{n1}": lambda: str(random.randrange(1, 9)),
        "{n}": lambda: str(random.randrange(20, 900)),
    }
    for slot, make in makers.items():
        while slot in text:
            text = text.replace(slot, make(), 1)
    return text
