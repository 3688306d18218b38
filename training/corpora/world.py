"""Names, places, organizations and the other values that the training documents are filled with."""

from __future__ import annotations

import functools
import random
import re

from phiscan.config import data_dir
from training.corpora.words import (
    BRAND_ENDS,
    BRANDS,
    COMPOUND_ENDS,
    COMPOUND_HEADS,
    DRUG_STEMS,
    EPONYMS,
    JOBS,
    TERM_ENDS,
    TERM_HEADS,
    TERM_ROOTS,
    WORDLY_FIRST,
    WORDLY_LAST,
)
from training.needs import needed

LOCALES = (
    "en_US en_CA en_GB en_AU en_IE en_IN fr_CA fr_FR fr_CH de_DE"
    " nl_NL it_IT es_ES es_MX sv_SE da_DK no_NO fi_FI"
    " pl_PL pt_BR pt_PT cs_CZ hr_HR hu_HU ro_RO sl_SI tr_TR id_ID vi_VN en_PH de_AT nl_BE"
).split()
WEIGHTS = [14, 8, 4, 2, 1, 2, 6, 3, *[1] * (len(LOCALES) - 8)]
_VOWELS = "aeiouy"


class World:
    """Draws values; every draw comes from one seeded generator."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        make = needed("faker").Faker
        self._fakers = {locale: make(locale) for locale in LOCALES}
        for number, faker in enumerate(self._fakers.values()):
            faker.seed_instance(seed + number)
            for provider in faker.get_providers():
                if isinstance(getattr(provider, "cities", None), list):
                    provider.cities = sorted(provider.cities)  # it_IT has them in the order of a set
        self._first = _terms("first_names")
        self._last = _terms("last_names")
        self._lines = {
            kind: _terms(f"health_{kind}")
            for kind in ("conditions", "symptoms", "drugs", "procedures", "icd10cm")
        }
        words = needed("faker.providers.lorem.fr_FR").Provider.word_list
        known = frozenset(self._first) | frozenset(self._last)
        self._french: list[str] = sorted({w for w in words if w.isalpha() and w.lower() not in known})
        self._plain_french = _terms("ordinary_words_fr")
        self._french_verbs = [w for w in self._plain_french if w.endswith("er") and not w.endswith("ier")]
        places = set(_terms("places"))
        self._nations = [_titled(w) for w in _terms("nations") if w not in places]
        self._words = [w for w in _terms("ordinary_words") if len(w) > 3 and w.isalpha()]  # noqa: PLR2004

    def fake(self, what: str, locale: str = "") -> str:
        """Return a value of a Faker provider in a locale (default: random; en_US if it lacks it)."""
        faker = self._fakers[locale or self.random.choices(LOCALES, WEIGHTS)[0]]
        return _latin(str(getattr(faker if hasattr(faker, what) else self._fakers["en_US"], what)()))

    def first(self, locale: str = "") -> str:
        """Return a first name: of a country, of the lists, an ordinary word, or one that is on no list."""
        draw = self.random.random()
        if draw < 0.62 or locale:  # noqa: PLR2004 (shares of the mix)
            return self.fake("first_name", locale)
        if draw < 0.80:  # noqa: PLR2004
            return _titled(self.random.choice(self._first))
        if draw < 0.85:  # noqa: PLR2004
            return self.random.choice(WORDLY_FIRST)
        return self.permuted(self._first)

    def last(self, locale: str = "") -> str:
        """Return a last name, as ``first`` does."""
        draw = self.random.random()
        if draw < 0.5 or locale:  # noqa: PLR2004
            name = self.fake("last_name", locale)
            return name if draw > 0.04 else f"{name}-{self.fake('last_name', locale)}"  # noqa: PLR2004
        if draw < 0.76:  # noqa: PLR2004
            return _titled(self.random.choice(self._last))
        if draw < 0.82:  # noqa: PLR2004
            return self.random.choice(WORDLY_LAST)
        if draw < 0.86:  # noqa: PLR2004
            prefix = self.random.choice(
                ["van ", "de ", "van der ", "Mac", "Mc", "O'", "St. ", "Al-", "Di ", "Le ", "von "]
            )
            return prefix + self.permuted(self._last)
        return self.permuted(self._last)

    def permuted(self, names: list[str]) -> str:
        """Return a name that is on no list, joined from parts of two real names."""
        one, two = self.random.choice(names), self.random.choice(names)
        cut = [m.end() for m in re.finditer(f"[{_VOWELS}]+", one)][:2] or [1]
        tail = [m.start() for m in re.finditer(f"[^{_VOWELS}]", two)][-3:] or [0]
        return _titled((one[: cut[-1]] + two[self.random.choice(tail) :])[:12])

    def brand(self) -> str:
        """Return a coined name of a company."""
        stem = self.random.choice(self._words)[: self.random.randint(3, 6)].capitalize()
        return stem + self.random.choice(
            [*BRANDS, *[b.capitalize() for b in BRANDS], "", "ia", "ex", "on", "ix"]
        )

    def organization(self) -> str:
        """Return the name of an organization."""
        pick, city = self.random.choice, self.city()
        last = self.fake("last_name", "en_US")
        word = self.random.choice(self._words).capitalize()
        kind = self.random.random()
        if kind < 0.25:  # noqa: PLR2004
            return self.fake("company") if self.random.random() < 0.6 else self.fake("company", "en_US")  # noqa: PLR2004
        if kind < 0.5:  # noqa: PLR2004
            return self.brand() + pick(["", "", "", " Inc", " Inc.", " Ltd", " LLC", " GmbH", " Corp", " SA"])
        return pick(
            [
                f"{last}, {self.last()} and {self.last()}", f"{last} and Sons", f"{last} & {self.last()}",
                f"{last}-{self.last()}", f"{last} Group", f"{last} Foundation", f"University of {city}",
                f"{city} University", f"{word} {self.brand()}", f"{word} Bank", f"Bank of {city}",
                f"{word} Insurance Company", f"{city} Police Department", f"Ministry of {word}",
                f"{word} Airlines",
                f"{word} Institute", f"{city} School Board", f"{word} {word[:4].capitalize()} Services",
                f"The {word} Company", f"{city} {word} Club", f"{word} Pharmacy",
                f"{word}mart", word.upper()[:4],
                f"{word} International", f"{self.random.choice(self._words).capitalize()} {word}",
            ]
        )  # fmt: skip

    def hospital(self) -> str:
        """Return the name of a hospital or clinic."""
        pick, city, last = self.random.choice, self.city(), self.last()
        return pick(
            [
                f"{city} General Hospital", f"St. {self.first()}'s Hospital", f"{last} Memorial Hospital",
                f"{city} Medical Center", f"{last} Clinic", f"Mount {last} Hospital",
                f"{city} Health Sciences Centre",
                f"Hôpital {last}", f"CHU de {city}", f"{last} Family Practice", f"University Hospital {city}",
                f"{city} Regional Hospital", f"{last} Cancer Centre", f"{city} Walk-in Clinic",
            ]
        )  # fmt: skip

    def city(self, locale: str = "") -> str:
        """Return a city, in capitals at times."""
        city = self.fake("city", locale)
        return city.upper() if self.random.random() < 0.06 else city  # noqa: PLR2004

    def nation(self) -> str:
        """Return a word for a country, a people or a language."""
        return self.random.choice(self._nations)

    def mail(self, locale: str = "") -> str:
        """Return an address in several lines, civilian or military."""
        if self.random.random() < 0.12:  # noqa: PLR2004
            return self._field_post()
        lines = self.fake("address", locale)
        if self.random.random() < 0.3:  # noqa: PLR2004
            lines += "\n" + self.country()
        return lines.replace("\n", self.random.choice(["\n", "\n", "\n", ", ", " "]))

    def _field_post(self) -> str:
        """Return a military address of the United States or of Canada."""
        pick, number = self.random.choice, self.random.randint
        ship = pick(["USS", "USNS", "USNV", "USCGC", "HMCS"])
        where = pick(
            [f"{ship} {self.last()}", f"Unit {number(1000, 9999)}, Box {number(1, 9999)}",
             f"PSC {number(1, 9999)}, Box {number(1, 9999)}", f"CFPO {number(1000, 9999)} Stn Forces"]
        )  # fmt: skip
        return f"{where}\n{pick(['APO', 'FPO', 'DPO'])} {pick(['AA', 'AE', 'AP'])} {number(10000, 99999)}"

    def country(self) -> str:
        """Return a country, in English mostly."""
        return self.fake("country", "en_US") if self.random.random() < 0.85 else self.fake("country")  # noqa: PLR2004

    def state(self) -> str:
        """Return a state or province, or its abbreviation."""
        pick = self.random.random()
        if pick < 0.5:  # noqa: PLR2004
            return self.fake("province_abbr", "en_CA") if pick < 0.2 else self.fake("state_abbr", "en_US")  # noqa: PLR2004
        return self.fake("province", "en_CA") if pick < 0.7 else self.fake("state", "en_US")  # noqa: PLR2004

    def street(self, locale: str = "") -> str:
        """Return the street line of an address, in the form of a random country."""
        text = self.fake("street_address", locale).replace("\n", self.random.choice([" ", ", "]))
        if self.random.random() < 0.12 and not locale:  # noqa: PLR2004
            name = self.permuted(self._last)
            number = self.random.randint(1, 9999)
            tail = self.random.choice("straße laan gata vej gatan katu weg stræde plein utca ulica".split())
            text = self.random.choice(
                [f"{number} {name}{tail} {number % 97}", f"{name}{tail} {number}", f"{number} {name} {tail}"]
            )
        return text

    def postcode(self) -> str:
        """Return a postal code."""
        return self.fake("postcode", self.random.choice(["en_US", "en_CA", "en_GB", ""]))

    def eponym(self) -> str:
        """Return an eponym of a disease or sign: a known one, or a random last name."""
        return self.random.choice(EPONYMS) if self.random.random() < 0.4 else self.last()  # noqa: PLR2004

    def new_term(self) -> str:
        """Return a random medical term joined from Greek and Latin parts."""
        pick = self.random.choice
        root = pick(TERM_ROOTS) if self.random.random() < 0.6 else ""  # noqa: PLR2004 (shares of the mix)
        term = pick(TERM_HEADS) + root + pick(TERM_ENDS)
        return term if self.random.random() < 0.7 else term.capitalize()  # noqa: PLR2004

    def gene(self) -> str:
        """Return a random name in the form of a gene, protein or trial name."""
        pick, number = self.random.choice, self.random.randint
        letters = "".join(pick("ABCDEFGHIKLMNOPRSTXY") for _ in range(number(2, 6)))
        head = pick(["", "", "", "mi", "Glu", "Sy", "Na", "Hb", "Ad", "pro", "anti-"])
        return head + letters + pick(["", "", str(number(1, 40)), "s", f"-{number(1, 9)}"])

    def compound(self) -> str:
        """Return two ordinary words joined by a hyphen, as adjectives are."""
        one = self.random.choice(COMPOUND_HEADS) if self.random.random() < 0.5 else self.word()  # noqa: PLR2004
        two = self.random.choice(COMPOUND_ENDS) if self.random.random() < 0.5 else self.word()  # noqa: PLR2004
        return f"{one}-{two}".capitalize() if self.random.random() < 0.6 else f"{one}-{two}"  # noqa: PLR2004

    def new_drug(self) -> str:
        """Return a drug name that is on no list: parts of two, the stem of a class, or a coined brand."""
        draw = self.random.random()
        one = self.random.choice(self._lines["drugs"]).split()[0]
        if draw < 0.4:  # noqa: PLR2004 (shares of the mix)
            return self.permuted(self._lines["drugs"])
        vowels = [m.end() for m in re.finditer(f"[{_VOWELS}]+", one)][:2] or [len(one)]
        head = one[: vowels[-1]]
        if draw < 0.8:  # noqa: PLR2004
            return (head + self.random.choice(DRUG_STEMS)).capitalize()
        return (head + self.random.choice(BRAND_ENDS)).capitalize()

    def french(self) -> str:
        """Return a random French word: from the list of ordinary words, or any other."""
        return self.random.choice(self._french if self.random.random() < 0.5 else self._plain_french)  # noqa: PLR2004 (shares of the mix)

    def imperative(self) -> str:
        """Return a French verb in the imperative, as in leaflets."""
        return self.random.choice(self._french_verbs)[:-1] + "z"

    def identifier(self) -> str:
        """Return a name as programs and forms write them: words joined by capitals or an underscore."""
        words = [self.word() for _ in range(self.random.randint(2, 3))]
        return self.random.choice(["", "", "_"]).join(map(str.capitalize, words))

    def term(self, kind: str) -> str:
        """Return a health term of one dictionary."""
        return self.random.choice(self._lines[kind])

    def word(self) -> str:
        """Return an ordinary word."""
        return self.random.choice(self._words)

    def job(self) -> str:
        """Return an occupation."""
        return self.random.choice(JOBS)


@functools.cache
def _terms(name: str) -> list[str]:
    lines = (data_dir("dictionaries") / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return sorted({line.split("\t")[0] for line in lines if line and not line.startswith("#")})


def _titled(name: str) -> str:
    return re.sub(r"[^\W\d_]+", lambda m: m[0].capitalize(), name)


def _latin(text: str) -> str:
    return text.replace("\u00a0", " ")
