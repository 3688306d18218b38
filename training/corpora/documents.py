"""Training documents: templates filled at random, some in capitals, lower case or with OCR errors."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

from training.corpora.people import PEOPLE, Pieces, written
from training.corpora.world import World

ORGANIZATION, LOCATION, ADDRESS = "ORG", "LOC", "ADR"
HERE = Path(__file__).parent
_CHOICE = re.compile(r"\[([^\[\]{}]*(?:\{[^{}\[\]]*\}[^\[\]{}]*)*)\]")
_SLOT = re.compile(r"\{([a-z]+)(\d?)\}")
_MONTHS = "January February March April May June July August September October November December".split()
# Letters about the number of an account or a vehicle; what is in a field without a value.
_CODES, _CODE_ENDS = ("GB", "CA", "FR", "W", "1H", "X", ""), ("", "A", "7K")
_NOTHING = "nan null NULL N/A None none - unknown NaN ? s.o.".split()
_CONFUSED = {
    "l": "1",
    "O": "0",
    "o": "0",
    "I": "l",
    "m": "rn",
    "S": "5",
    "e": "c",
    "i": "l",
    "h": "b",
    "B": "8",
}


@dataclass(frozen=True)
class Labelled:
    """A text and its spans ``(start, end, label)``."""

    text: str
    spans: tuple[tuple[int, int, str], ...]


class Writer:
    """Fills templates."""

    def __init__(self, seed: int, *, without_held_out: bool = False, only_held_out: bool = False) -> None:
        """Read the templates: all, all but the held-out tenth, or only the held-out tenth."""
        self.world = World(seed)
        self.random = self.world.random
        forms = (HERE / "forms.txt").read_text(encoding="utf-8").split("\n", 1)[1]
        templates = (
            [form.strip("\n") for form in forms.split("\n---\n")],
            _lines("sentences.txt"),
            _lines("plain.txt"),
        )
        if without_held_out or only_held_out:
            chosen = [[t for t in some if _held_out(t) == only_held_out] for some in templates]
            self._forms, self._sentences, self._plain = chosen
        else:
            self._forms, self._sentences, self._plain = templates

    def documents(self, n_documents: int) -> Iterator[Labelled]:
        """Yield documents: forms and letters, runs of sentences, text without a name."""
        for _ in range(n_documents):
            draw = self.random.random()
            if draw < 0.3:  # noqa: PLR2004 (shares of the mix)
                parts = [self.random.choice(self._forms)]
            elif draw < 0.82:  # noqa: PLR2004
                n_parts = self.random.choice([1, 1, 1, 2, 3, 5])
                parts = [self.random.choice(self._sentences) for _ in range(n_parts)]
                parts += [self.random.choice(self._plain) for _ in range(self.random.choice([0, 0, 1, 2]))]
                self.random.shuffle(parts)
            else:
                parts = [self.random.choice(self._plain) for _ in range(self.random.randint(2, 8))]
            joint = self.random.choice([" ", " ", "\n", "\n\n"])
            yield self._disturbed(self.fill(joint.join(parts)))

    def fill(self, template: str) -> Labelled:
        """Fill one template; a slot with a number keeps its person through the document."""
        template = self._choose(template.replace("\\n", "\n"))
        people: dict[str, tuple[str, str]] = {}
        pieces: list[str] = []
        spans: list[tuple[int, int, str]] = []
        length = position = 0
        for match in _SLOT.finditer(template):
            pieces.append(template[position : match.start()])
            length += len(pieces[-1])
            for value, label in self._value(match[1], match[2], people):
                if label and value:
                    spans.append((length, length + len(value), label))
                pieces.append(value)
                length += len(value)
            position = match.end()
        pieces.append(template[position:])
        return Labelled("".join(pieces), tuple(spans))

    def _choose(self, template: str) -> str:
        while True:
            # A bracket with a single option is literal text, such as an array of JSON.
            match = next((m for m in _CHOICE.finditer(template) if "|" in m[1]), None)
            if match is None:
                return template
            chosen = self.random.choice(match[1].split("|"))
            template = template[: match.start()] + chosen + template[match.end() :]

    def _value(self, name: str, number: str, people: dict[str, tuple[str, str]]) -> Pieces:
        world, pick = self.world, self.random.choice
        french = name.startswith("fr")
        locale = pick(["fr_CA", "fr_CA", "fr_FR"]) if french else ""
        base = name[2:] if french else name
        if base in PEOPLE:
            first, last = people.get(number) or (world.first(locale), world.last(locale))
            if number:
                people[number] = (first, last)
            return written(base, first, last, self.random, world.first)
        simple: dict[str, Callable[[], tuple[str, str]]] = {
            "org": lambda: (world.organization(), ORGANIZATION),
            "hospital": lambda: (world.hospital(), ORGANIZATION),
            "city": lambda: (world.city(locale), LOCATION),
            "country": lambda: (world.country(), LOCATION),
            "state": lambda: (world.state(), LOCATION),
            "street": lambda: (world.street(locale), ADDRESS),
            "zip": lambda: (world.postcode(), ADDRESS),
            "addr": lambda: (self._address(), ADDRESS),
            "mail": lambda: (world.mail(locale), ADDRESS),
        }
        if base in simple:
            return [simple[base]()]
        if base == "rowcsv":
            row = pick(
                [
                    "{full},{date},{phone},{cond}",
                    "{last},{first},{date},{city}",
                    "{full},Dr. {last},{date},{num}",
                ]
            )
            filled = self.fill(row)
            result: Pieces = []
            position = 0
            for start, end, label in filled.spans:
                result += [(filled.text[position:start], ""), (filled.text[start:end], label)]
                position = end
            return [*result, (filled.text[position:], "")]
        return [(self._plain_value(base), "")]

    def _address(self) -> str:
        world, pick = self.world, self.random.choice
        street, city, code = world.street(), world.city(), world.postcode()
        return pick(
            [
                f"{street}, {city}", f"{street}, {city}, {world.state()} {code}", f"{street}, {city} {code}",
                f"{street}, {code} {city}", f"{street} {city}, {world.country()}",
                f"{street}, {city}, {code}",
                f"{street}, {city}, {world.country()} {code}", f"{street} {city} {code}",
            ]
        )  # fmt: skip

    def _plain_value(self, base: str) -> str:
        world, pick, number = self.world, self.random.choice, self.random.randint
        kinds = {
            "cond": "conditions",
            "symptom": "symptoms",
            "drug": "drugs",
            "proc": "procedures",
            "term": "icd10cm",
        }
        if base in kinds:
            return world.term(kinds[base])
        if base.removesuffix("cap") in kinds:
            term = world.term(kinds[base.removesuffix("cap")] if self.random.random() < 0.6 else "icd10cm")  # noqa: PLR2004
            return term.title() if self.random.random() < 0.6 else term.capitalize()  # noqa: PLR2004
        if base == "date":
            year, month, day = number(1930, 2025), number(1, 12), number(1, 28)
            return pick(
                [f"{year}-{month:02}-{day:02}", f"{month}/{day}/{year}",
                 f"{_MONTHS[month - 1]} {day}, {year}", f"{_MONTHS[month - 1]} {day}",
                 f"{day} {_MONTHS[month - 1][:3]} {year}", f"{day:02}/{month:02}/{year % 100:02}"]
            )  # fmt: skip
        drawn: dict[str, Callable[[], str]] = {
            "year": lambda: str(number(1850, 2024)),
            "age": lambda: str(number(1, 99)),
            "num": lambda: str(number(1, 10 ** number(1, 9))),
            "time": self._time,
            "nation": world.nation,
            "coined": world.brand,
            "handle": self._handle,
            "code": lambda: f"{pick(_CODES)}{number(10**6, 10**12)}{pick(_CODE_ENDS)}",
            "title": lambda: " ".join(world.word().capitalize() for _ in range(number(2, 4))),
            "none": lambda: pick(_NOTHING),
            "phone": lambda: world.fake("phone_number", pick(["en_US", "en_CA", ""])),
            "email": lambda: world.fake("email", "en_US"),
            "url": lambda: world.fake("url", "en_US"),
            "user": lambda: world.fake("user_name", "en_US"),
            "money": lambda: pick(["$", "€", "CAD "]) + str(number(5, 90_000)),
            "job": world.job,
            "newdrug": world.new_drug,
            "word": world.french,
            "wordcap": lambda: world.french().capitalize(),
            "imper": world.imperative,
            "impercap": lambda: world.imperative().capitalize(),
            "ident": world.identifier,
            "pos": lambda: pick(["his", "her", "their"]),
            "cap": lambda: pick("ABCDEFGHJKLMNPRSTW"),
            "month": lambda: pick(_MONTHS),
            "dept": lambda: pick(["Medicine", "Surgery", "Pediatrics", "Oncology", "Neurology", "Finance"]),
            "eponym": world.eponym,
            "newterm": world.new_term,
            "gene": world.gene,
            "compound": world.compound,
        }
        return drawn[base]()

    def _time(self) -> str:
        """Return a time of day as English and French write it."""
        number, pick = self.random.randint, self.random.choice
        hour, minute = number(0, 23), pick([0, 0, 15, 30, 45, number(0, 59)])
        return pick(
            [f"{hour % 12 or 12}:{minute:02}", f"{hour:02}:{minute:02}", f"{hour:02}{minute:02}",
             f"{hour} h {minute:02}", f"{hour}h{minute:02}", f"{hour} h", f"{hour % 12 or 12}:{minute:02} am"]
        )  # fmt: skip

    def _handle(self) -> str:
        """Return a random handle or hashtag without its sign: names and words written together."""
        world, pick = self.world, self.random.choice
        kinds = (world.first, world.last, world.word, world.brand)
        parts = [pick(kinds)() for _ in range(pick([1, 1, 2, 2, 3]))]
        words = [part.replace(" ", "") for part in parts]
        return pick(["", "", "_"]).join(words) + pick(["", "", "", str(self.random.randint(1, 99)), "_"])

    def _disturbed(self, document: Labelled) -> Labelled:
        draw = self.random.random()
        if draw < 0.10:  # noqa: PLR2004 (shares of the mix)
            return mapped(document, str.upper)
        if draw < 0.19:  # noqa: PLR2004
            return mapped(document, str.lower)
        if draw < 0.23:  # noqa: PLR2004
            return self._some_lines(document)
        if draw < 0.27:  # noqa: PLR2004
            return mapped(document, partial(scanned, self.random))
        if draw < 0.35 and "\n" not in document.text:  # noqa: PLR2004
            width = self.random.randint(40, 80)
            return mapped(document, lambda text: text, width=width)
        return document

    def _some_lines(self, document: Labelled) -> Labelled:
        """Write some lines in lower case or in capitals, as hurried notes and printed headers have them."""
        changes: list[Callable[[str], str]] = [str.lower, str.lower, str.upper, str]
        change = self.random.choice(changes)

        def next_line(char: str) -> str:
            nonlocal change
            if char == "\n":
                change = self.random.choice(changes)
            return change(char)

        return mapped(document, next_line)


def scanned(chance: Random, char: str) -> str:
    """Return a character with a simulated OCR error: at random, a similar character."""
    return _CONFUSED.get(char, char) if chance.random() < 0.04 else char  # noqa: PLR2004 (a misread sign in 25)


def mapped(document: Labelled, change: Callable[[str], str], width: int = 0) -> Labelled:
    """Change a text character by character, keeping the spans; or wrap its lines at ``width``."""
    places = [0]
    pieces: list[str] = []
    column = 0
    for char in document.text:
        changed = "\n" if width and char == " " and column > width else change(char)
        column = 0 if changed == "\n" else column + 1
        pieces.append(changed)
        places.append(places[-1] + len(changed))
    spans = tuple((places[start], places[end], label) for start, end, label in document.spans)
    return Labelled("".join(pieces), spans)


def _held_out(template: str) -> bool:
    return zlib.crc32(template.encode()) % 10 == 0


def _lines(name: str) -> list[str]:
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]
