"""Written values to canonical forms, in which two spellings of one value are equal, by rules alone.

The same functions are used for the patient list when the index is built and for the findings of a document
when it is matched. Letters and digits that OCR confuses are mapped to one character, so that a value with OCR
errors has the same form as the correct one.
"""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections.abc import Iterator

from phiscan.lexicon.months import MONTHS

MIN_NUMBER_CHARS = 4  # shorter record and account numbers are ignored
_MIN_PHONE = 7
_PHONE_CHARS = 10
_CARD_WITH_VERSION = re.compile(r"(\d{10})[A-Z]{1,2}")  # Ontario's cards: ten digits and a version code
_CONFUSED_IN_NUMBERS = str.maketrans("OQDILSBZG", "000115826")
_CONFUSED_IN_DATES = str.maketrans("OoQDIl|!SsBZzgq", "0000" + "1111" + "55" + "8" + "22" + "99")
_NOT_ALPHANUMERIC = re.compile(r"[^0-9A-Z]+")
_FIRST_YEAR, _LAST_YEAR = 1880, 2100
_STREET_WORDS = {
    "street": "st", "str": "st", "avenue": "av", "ave": "av", "road": "rd", "boulevard": "bd", "blvd": "bd",
    "boul": "bd", "drive": "dr", "lane": "ln", "court": "ct", "crescent": "cr", "cres": "cr", "place": "pl",
    "highway": "hwy", "chemin": "ch", "route": "rte", "square": "sq", "terrace": "ter", "parkway": "pkwy",
    "circle": "cir", "way": "wy", "rue": "rue", "saint": "st", "sainte": "ste",
    "north": "n", "south": "s", "east": "e", "west": "w", "nord": "n", "sud": "s", "est": "e", "ouest": "o",
}  # fmt: skip
_UNIT = re.compile(r"\b(?:apt|apartment|unit|suite|ste|app|appartement|bureau|#)\b\.?\s*#?\s*\w+|#\s*\w+")
_WORDS = re.compile(r"[a-z0-9]+")


def plain(text: str) -> str:
    """Return text in lower case without accents, in compatibility-normalized characters.

    >>> plain("Élise Ōta-Łuk STRAẞE")
    'elise ota-luk strasse'
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    if folded.isascii():
        return folded
    folded = folded.translate(_LETTERS)
    return "".join(c for c in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(c))


_LETTERS = str.maketrans(
    {
        "ł": "l", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ħ": "h",
        "\u0131": "i",  # a dotless i
        "’": "'", "ʼ": "'", "`": "'", "‐": "-", "‑": "-", "–": "-",  # noqa: RUF001 (names are written with them)
    }
)  # fmt: skip


def number_form(value: str) -> str:
    """Return a record or account number as letters and digits alone; "" if there are too few.

    >>> number_form("00-123O4"), number_form("12")
    ('12304', '')
    """
    text = _NOT_ALPHANUMERIC.sub("", plain(value).upper())
    text = text.translate(_CONFUSED_IN_NUMBERS).lstrip("0")
    return text if len(text) >= MIN_NUMBER_CHARS and any(char.isdecimal() for char in text) else ""


def card_form(value: str) -> str:
    """Return a health card number without grouping, and without the version code of an Ontario card.

    >>> card_form("9876 543 217 XK") == card_form("9876-543-217") == "9876543217"
    True
    >>> card_form("bélm 6153 0318") == card_form("BELM61530318")
    True
    """
    text = _NOT_ALPHANUMERIC.sub("", plain(value).upper())
    if match := _CARD_WITH_VERSION.fullmatch(text):
        text = match[1]
    return number_form(text)


def shape_of(form: str) -> str:
    """Return the shape of a number form: 9 for a digit, A for a letter.

    >>> shape_of("M10234")
    'A99999'
    """
    return "".join("9" if char.isdecimal() else "A" for char in form)


def phone_form(value: str) -> str:
    """Return the last ten digits of a telephone number, or seven; "" if there are fewer.

    >>> phone_form("+1 (613) 555-0142 ext. 7"), phone_form("555-0142")
    ('6135550142', '5550142')
    """
    text = re.split(r"(?i)\s*(?:ext|x|poste)\b", value)[0]
    digits = "".join(char for char in unicodedata.normalize("NFKC", text) if char.isdecimal())
    if len(digits) < _MIN_PHONE:
        return ""
    return digits[-_PHONE_CHARS:] if len(digits) >= _PHONE_CHARS else digits[-_MIN_PHONE:]


def email_form(value: str) -> str:
    """Return an e-mail address in lower case; "" if it is none.

    >>> email_form(" Ann.Roy@Example.ORG ")
    'ann.roy@example.org'
    """
    text = "".join(unicodedata.normalize("NFKC", value).casefold().split())
    return text if "@" in text else ""


def postal_form(value: str) -> str:
    """Return a postal code without spaces; of a ZIP+4 the first five digits.

    >>> postal_form("k7l 3N6"), postal_form("12345-6789"), postal_form("K7L3NG")
    ('K7L3N6', '12345', 'K7L3N6')
    """
    text = _NOT_ALPHANUMERIC.sub("", plain(value).upper())
    if len(text) == 6 and not text.isdecimal():  # noqa: PLR2004 (letter digit letter digit letter digit)
        digits = text[1::2].translate(_CONFUSED_IN_NUMBERS)
        letters = text[::2].translate(str.maketrans("015826", "OISBZG"))
        return "".join(a + b for a, b in zip(letters, digits, strict=True))
    text = text.translate(_CONFUSED_IN_NUMBERS)
    return text[:5] if text.isdecimal() and len(text) >= 5 else ""  # noqa: PLR2004 (digits of a ZIP)


def street_form(value: str) -> str:
    """Return house number and street: unit left out, words of the kind of street abbreviated.

    >>> street_form("Apt. 4, 12 Harbour Road N.") == street_form("12 harbour rd North, Kingston")
    True
    """
    text = plain(value).partition("\n")[0]
    words = _WORDS.findall(_UNIT.sub(" ", text))
    for index, word in enumerate(words):
        if word[0].isdecimal() and len(words) > index + 1:
            street = [_STREET_WORDS.get(one, one) for one in words[index + 1 : index + 3]]
            return f"{word} {' '.join(street)}" if len(street[0]) > 1 or len(street) > 1 else ""
    return ""


def date_forms(value: str) -> tuple[str, ...]:
    """Return every possible day of a written date, as YYYYMMDD: both orders, both centuries.

    >>> date_forms("12 March 1956"), date_forms("1956-O3-12"), date_forms("03/04/1956")
    (('19560312',), ('19560312', '19561203'), ('19560304', '19560403'))
    """
    return tuple(dict.fromkeys(_days(value)))


def listed_date(value: str, *, day_first: bool) -> str:
    """Return the day of a date in a patient list; "" if it is none.

    >>> listed_date("03/04/1956", day_first=True), listed_date("1956-04-03T00:00:00", day_first=False)
    ('19560403', '19560403')
    """
    numbers = re.findall(r"\d+", value.partition("T")[0])
    if len(numbers) == 3 and len(numbers[0]) <= 2:  # noqa: PLR2004 (day, month and year in figures)
        first, second = (numbers[1], numbers[0]) if day_first else (numbers[0], numbers[1])
        if found := _day(numbers[2], first, second) or _day(numbers[2], second, first):
            return found
    return next(iter(_days(value)), "")


def _days(value: str) -> Iterator[str]:
    text = plain(value)
    words = [word for word in re.findall(r"[a-z]{3,}", text) if word in MONTHS]
    if words:
        numbers = re.findall(r"\d+", text)
        for year in (number for number in numbers if len(number) == 4):  # noqa: PLR2004 (a year)
            yield from filter(None, (_day(year, str(MONTHS[words[0]]), d) for d in numbers if d != year))
        if len(numbers) == 2 and all(len(number) <= 2 for number in numbers):  # noqa: PLR2004 (day and year)
            for day, year in (numbers, numbers[::-1]):
                yield from _centuries(year, str(MONTHS[words[0]]), day)
        return
    numbers = re.findall(r"\d+", value.translate(_CONFUSED_IN_DATES))
    if len(numbers) == 1 or (numbers and len(numbers[0]) >= 8):  # noqa: PLR2004 (YYYYMMDD, perhaps a time)
        packed = numbers[0]
        if len(packed) >= 8:  # noqa: PLR2004 (see above)
            yield from filter(None, [_day(packed[:4], packed[4:6], packed[6:8])])
            if len(packed) == 8:  # noqa: PLR2004 (DDMMYYYY)
                yield from filter(None, [_day(packed[4:], packed[2:4], packed[:2])])
        return
    if len(numbers) < 3:  # noqa: PLR2004 (no day, month and year)
        return
    first, second, third = numbers[:3]
    if len(first) == 4:  # noqa: PLR2004 (the year first)
        yield from filter(None, [_day(first, second, third), _day(first, third, second)])
    else:
        yield from _centuries(third, first, second)
        yield from _centuries(third, second, first)


def _centuries(year: str, month: str, day: str) -> Iterator[str]:
    years = (year,) if len(year) == 4 else (f"19{year:0>2}", f"20{year:0>2}")  # noqa: PLR2004 (a whole year)
    yield from filter(None, (_day(one, month, day) for one in years))


def _day(year: str, month: str, day: str) -> str:
    try:
        found = dt.date(int(year), int(month), int(day))
    except ValueError:
        return ""
    return f"{found:%Y%m%d}" if _FIRST_YEAR <= found.year <= _LAST_YEAR else ""
