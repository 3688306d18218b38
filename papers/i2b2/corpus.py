"""A surrogate corpus of discharge records in the challenge's eight categories; seeded, 669 + 220 records.

All records are synthetic: identifiers are made as section "PHI Categories, Ambiguous and Out-of-Vocabulary
PHI" of Uzuner et al. (2007) describes, in sentences that were written for phiscan.
"""

from __future__ import annotations

import string
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from random import Random

from papers.i2b2 import phrases
from papers.i2b2.surrogates import (
    Calendar,
    NameMaker,
    Person,
    Shares,
    calendar,
    date_form,
    names,
    scramble,
)
from phiscan.config import data_dir
from phiscan.lexicon.dictionary import load_dictionary
from phiscan.metrics.deidentification.spans import AnnotatedText, LabelledSpan

PATIENT, DOCTOR, HOSPITAL, LOCATION = "PATIENT", "DOCTOR", "HOSPITAL", "LOCATION"
DATE, ID, PHONE, AGE = "DATE", "ID", "PHONE", "AGE"
TYPES = (PATIENT, DOCTOR, LOCATION, HOSPITAL, DATE, ID, PHONE, AGE)
NAMED_TYPES = frozenset({PATIENT, DOCTOR, LOCATION, HOSPITAL})

N_TRAIN, N_TEST = 669, 220
_PERSON = Shares(in_dictionary=0.10, medical=0.12)
_DOCTOR = Shares(in_dictionary=0.12, medical=0.20)
_PLACE = Shares(in_dictionary=0.25, medical=0.08)
_HOSPITAL = Shares(in_dictionary=0.04, medical=0.0)
_SLOPPY = 0.25  # titles and full stops left out
_FILLER = 0.04  # inserted words that no sentence of phrases has
_MISSPELT = 0.02  # of the longer words
_DATE_STYLES = ("numeric", "short", "two", "words")


@dataclass(frozen=True, slots=True)
class Corpus:
    """Training and test records, with text and spans."""

    train: tuple[AnnotatedText, ...]
    test: tuple[AnnotatedText, ...]


class _Writer:
    """Text with spans, written token by token."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._fresh = True
        self.case: Callable[[str], str] = str
        self.spans: list[LabelledSpan] = []

    def add(self, text: str, kind: str | None = None, *, glued: bool = False) -> None:
        if not self._fresh and not glued:
            self._put(" ")
        self._fresh = False
        text = self.case(text)
        if kind is not None:
            self.spans.append(LabelledSpan(self._length, self._length + len(text), kind))
        self._put(text)

    def line(self) -> None:
        self._put("\n")
        self._fresh = True

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def _put(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)


@cache
def _terms(which: str) -> tuple[str, ...]:
    terms = load_dictionary(data_dir("dictionaries") / f"{which}.txt").rows
    return tuple(row[0] for row in terms if row[0].isascii() and row[-1] != "fr" and len(row[0].split()) < 4)  # noqa: PLR2004


_MEDICAL = {
    "condition": "health_conditions",
    "drug": "health_drugs",
    "procedure": "health_procedures",
    "lab": "health_labs",
    "symptom": "health_symptoms",
}


class _Record:
    """A discharge record under construction: its people, places and days, and the text so far."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.names = NameMaker(random, phrases.COMMON_WORDS)
        self.out = _Writer()
        self.days: Calendar = calendar(random)
        self.male = random.random() < 0.5  # noqa: PLR2004
        self.patient = self.names.person(_PERSON)
        self.kin = Person(self.names.word("first_names", _PERSON), "", self.patient.last)
        self.doctors = [self.names.person(_DOCTOR) for _ in range(4)]
        self.hospitals = [self._hospital() for _ in range(3)]
        self.short = scramble("M" * random.choice((2, 3, 3)), random)
        self.day = 0

    def _hospital(self) -> str:
        form = self.random.choices(phrases.HOSPITAL_FORMS, phrases.HOSPITAL_WEIGHTS)[0]
        while "{word}" in form:
            form = form.replace("{word}", self.names.word("last_names", _HOSPITAL), 1)
        return form

    def header(self) -> None:
        """Write the structured header: identifiers, hospital, dates, and sometimes the patient's name."""
        out, random = self.out, self.random
        out.add(scramble("101126659", random), ID)
        out.line()
        out.add(self.short, HOSPITAL)
        out.line()
        out.add(scramble(random.choice(("1234567", "358-51-76")), random), ID)
        out.line()
        if random.random() < 0.4:  # noqa: PLR2004
            out.add(scramble("04281", random), ID)
            out.line()
        self.date(0, "numeric")
        out.add("12:00:00 AM")
        out.line()
        out.add(random.choice(("DISCHARGE SUMMARY", "Discharge Summary", "DIS Report")))
        out.line()
        out.add(random.choice(("Unsigned", "Signed", "Report Status : Unsigned")))
        out.line()
        if random.random() < 0.6:  # noqa: PLR2004
            out.add("Report Number :")
            out.add(scramble(random.choice(phrases.IDS), random), ID)
            out.line()
        for heading, after in (("ADMISSION DATE :", 0), ("DISCHARGE DATE :", random.randrange(2, 15))):
            out.add(heading)
            self.date(after, "numeric")
            out.line()
        if random.random() < 0.33:  # noqa: PLR2004
            out.add(random.choice(("NAME :", "PATIENT NAME :", "NAME")))
            middle = f" {self.patient.middle}" if random.random() < 0.4 else ""  # noqa: PLR2004
            out.add(f"{self.patient.last} , {self.patient.first}{middle}".upper(), PATIENT)
            out.line()
            out.add("UNIT NUMBER :")
            out.add(scramble("358-51-76", random), ID)
            out.line()
        if random.random() < 0.3:  # noqa: PLR2004
            out.add("ATTENDING :")
            out.add(self._full(self.doctors[0], upper=True), DOCTOR)
            out.add(", M.D.")
            out.line()

    def date(self, after: int, style: str | None = None) -> None:
        """Write a date: day and month are PHI, the year is not."""
        chosen = style or self.random.choices(_DATE_STYLES, (5, 4, 4, 2))[0]
        marked, rest = date_form(self.days.day(after), chosen)
        self.out.add(marked, DATE)
        if rest:
            self.out.add(rest, glued=True)

    def _full(self, person: Person, *, upper: bool = False) -> str:
        style = self.random.random()
        if style < 0.5:  # noqa: PLR2004
            name = f"{person.first} {person.middle}. {person.last}"
        elif style < 0.8:  # noqa: PLR2004
            name = f"{person.first} {person.last}"
        else:
            name = f"{person.first[0]}. {person.last}"
        return name.upper() if upper else name

    def body(self) -> None:
        """Write the narrative: every heading, plain sentences, and the sentences with PHI among them."""
        random = self.random
        for heading in phrases.HEADINGS:
            plain = phrases.PLAIN[heading]
            sentences = random.sample(plain, min(len(plain), random.choice((2, 3, 4))))
            for where, sentence, mean in phrases.MARKED:
                if where == heading:
                    sentences += [sentence] * (int(mean) + (random.random() < mean % 1))
            random.shuffle(sentences)
            self.out.add(heading)
            if random.random() < 0.5:  # noqa: PLR2004
                self.out.line()
            for sentence in sentences:
                self.sentence(sentence)
            self.out.line()

    def sentence(self, sentence: str) -> None:
        """Write one sentence with its slots filled, sometimes in one case, misspelt, or without titles."""
        random = self.random
        self.out.case = random.choices((str, str.upper, str.lower), (88, 8, 4))[0]
        for word in sentence.split():
            if word in {"Dr.", "DRS.", "{title}", "."} and random.random() < _SLOPPY:
                continue
            if random.random() < _FILLER:
                filler = random.choice(names("ordinary_words"))
                self.out.add(filler.capitalize() if random.random() < 0.3 else filler)  # noqa: PLR2004
            if word.startswith("{"):
                self._fill(word[1:-1])
            else:
                self.out.add(self._misspelt(word))
        self.out.case = str

    def _misspelt(self, word: str) -> str:
        if len(word) < 5 or not word.isalpha() or self.random.random() > _MISSPELT:  # noqa: PLR2004
            return word
        at = self.random.randrange(1, len(word) - 2)
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]

    def _fill(self, slot: str) -> None:
        random = self.random
        if slot in _MEDICAL:
            self.out.add(random.choice(_terms(_MEDICAL[slot])))
        elif slot == "date":
            self.day += random.randrange(3)
            self.date(self.day - random.choice((0, 0, 30)))
        elif slot in _NUMBERS:
            self.out.add(_NUMBERS[slot](random))
        elif slot in {"title", "he", "kin_word"}:
            words = {"title": ("Mr.", "Ms."), "he": ("He", "She"), "kin_word": ("his", "her")}[slot]
            word = words[0 if self.male else 1]
            self.out.add(f"{word} {random.choice(phrases.RELATIVES)}" if slot == "kin_word" else word)
        else:
            self._fill_phi(slot)

    def _fill_phi(self, slot: str) -> None:
        text, kind = self._phi(slot)
        self.out.add(text, kind)

    def _phi(self, slot: str) -> tuple[str, str]:  # noqa: PLR0911 (one line per slot)
        random, doctor = self.random, self.random.choice(self.doctors)
        if slot.startswith("patient"):
            full = f"{self.patient.first} {self.patient.last}"
            return (full if slot.endswith("full") else self.patient.last), PATIENT
        if slot == "kin":
            return f"{self.kin.first} {self.kin.last}" if random.random() < 0.6 else self.kin.first, PATIENT  # noqa: PLR2004
        if slot.startswith("doctor"):
            forms = {
                "doctor": doctor.last,
                "doctor_upper": doctor.last.upper(),
                "doctor_comma": f"{doctor.last} , {doctor.first}",
                "doctor_full": self._full(doctor),
            }
            return forms[slot], DOCTOR
        if slot == "hospital":
            return (self.short if random.random() < 0.35 else random.choice(self.hospitals)), HOSPITAL  # noqa: PLR2004
        if slot == "ward":
            return f"{self.names.word('last_names', _HOSPITAL)} {random.randrange(2, 16)}", HOSPITAL
        if slot == "phone":
            pattern = random.choices(phrases.PHONES, phrases.PHONE_WEIGHTS)[0]
            head, _, tail = pattern.rpartition("# ") if "#" in pattern else ("", "", pattern)
            return _digits(tail if head else pattern.removeprefix("beeper "), random), PHONE
        if slot == "id":
            return scramble(random.choice(phrases.IDS), random), ID
        if slot == "age":
            return str(random.randrange(90, 103)), AGE
        return self._place(slot), LOCATION

    def _place(self, slot: str) -> str:
        random, town = self.random, self.names.word("towns", _PLACE)
        if slot == "home":
            number = random.randrange(1, 999)
            return f"{number} {town} {random.choice(phrases.STREETS)} , {self.names.word('towns', _PLACE)}"
        if random.random() < 0.35:  # noqa: PLR2004
            return f"{town} , {random.choice(phrases.STATES)}"
        return f"{town} {random.choice(('Rangers', 'Port Authority'))}" if random.random() < 0.08 else town  # noqa: PLR2004

    def footer(self) -> None:
        """Write the structured footer: who dictated, who typed, when, and who gets a copy."""
        out, random = self.out, self.random
        out.add("Dictated By :")
        out.add(self._full(self.doctors[0], upper=random.random() < 0.7), DOCTOR)  # noqa: PLR2004
        out.add(random.choice((", M.D.", ", MD", "M.D.")))
        out.add(scramble(random.choice(("TR223", "99-1133")), random), ID)
        out.line()
        if random.random() < 0.45:  # noqa: PLR2004
            out.add("Attending :")
            out.add(self._full(self.doctors[1], upper=True), DOCTOR)
            out.add(", M.D.")
            out.add(scramble("AA12", random), ID)
            out.line()
        if random.random() < 0.3:  # noqa: PLR2004
            out.add("Batch :")
            out.add(scramble("04371", random), ID)
        if random.random() < 0.45:  # noqa: PLR2004
            out.add("Index No.")
            out.add(scramble("ABCDE12F34", random), ID)
        for heading, after in (("D :", 15), ("T :", 16)):
            out.add(heading)
            self.date(after, "two")
        out.line()
        if random.random() < 0.55:  # noqa: PLR2004
            out.add("TR :")
            out.add(f"{scramble('zv', random)} / {scramble('bmot', random)}", DOCTOR)
            out.line()
        if random.random() < 0.35:  # noqa: PLR2004
            out.add("CC :")
            out.add(self._full(self.doctors[2], upper=True), DOCTOR)
            out.add(", M.D.")
            out.line()


def _digits(pattern: str, random: Random) -> str:
    return "".join(
        random.choice(string.digits) if character.isdigit() else character for character in pattern
    )


_NUMBERS: dict[str, Callable[[Random], str]] = {
    "n": lambda random: str(random.randrange(2, 90)),
    "years": lambda random: str(random.randrange(19, 90)),
    "dose": lambda random: random.choice(("5", "10", "25", "40", "81", "325", "500", "1,000")),
    "value": lambda random: f"{random.uniform(0.4, 130):.1f}",
    "bp": lambda random: f"{random.randrange(88, 190)}/{random.randrange(45, 105)}",
    "code": lambda random: random.choice(
        (f"{random.randrange(1000, 9999)}", f"T{random.randrange(9)}N{random.randrange(4)}")
    ),
    "scale": lambda random: f"{random.randrange(1, 6)}/{random.choice((5, 5, 5, 10))}",
}


def make_record(name: str, seed: int) -> AnnotatedText:
    """Return one discharge record with its spans, from a seed.

    >>> record = make_record("1", 1)
    >>> all(record.text[span.start : span.end].strip() for span in record.spans)
    True
    """
    record = _Record(Random(f"i2b2/{seed}"))
    record.header()
    record.body()
    record.footer()
    return AnnotatedText(name, record.out.text, tuple(record.out.spans))


def make_corpus(*, seed: int = 2006, n_train: int = N_TRAIN, n_test: int = N_TEST) -> Corpus:
    """Return the corpus: records made one by one and split at random, as in the challenge."""
    records = [make_record(str(number + 1), seed * 100_000 + number) for number in range(n_train + n_test)]
    Random(seed).shuffle(records)
    return Corpus(tuple(records[:n_train]), tuple(records[n_train:]))
