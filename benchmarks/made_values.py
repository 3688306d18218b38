"""Made values of each kind of identifier, and the words for them (``labels.txt``), for ``bench_labels``.

Values are drawn from a seed, most without right check digits.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

from phiscan.model import EntityType

_FIRST = "Marie John Aisha Olena Pierre Fatima Liam Wei Jaspreet Chloé Noah Amara Tomasz Ingrid".split()  # noqa: SIM905 (a list of words)
_LAST = "Tremblay Smith Okafor Nguyen Kowalski Gagnon Singh Patel Beardy Chen Rossi MacNeil Haddad".split()  # noqa: SIM905 (a list of words)
_STREETS = "Elm Oak Maple King Main Queen Water Victoria Pine Cedar".split()  # noqa: SIM905 (a list of words)
_TOWNS = "Sudbury Halifax Laval Regina Boston Dayton Moncton Fresno Kelowna Tulsa".split()  # noqa: SIM905 (a list of words)
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()  # noqa: SIM905 (a list of words)

Maker = Callable[[Random], str]


def _digits(count: int) -> Maker:
    return lambda draw: "".join(draw.choices("0123456789", k=count))


def _letters(count: int) -> Maker:
    return lambda draw: "".join(draw.choices("ABCDEFGHJKLMNPRSTVWXYZ", k=count))


def _joined(*makers: Maker | str) -> Maker:
    return lambda draw: "".join(part if isinstance(part, str) else part(draw) for part in makers)


def _one_of(*makers: Maker) -> Maker:
    return lambda draw: draw.choice(makers)(draw)


def _word(words: list[str]) -> Maker:
    return lambda draw: draw.choice(words)


def _day(form: str, low: int, high: int) -> Maker:
    def made(draw: Random) -> str:
        year, month, day = draw.randint(low, high), draw.randint(1, 12), draw.randint(1, 28)
        return form.format(
            y=year, yy=year % 100, m=month, d=day, name=_MONTHS[month - 1], mm=f"{month:02}", dd=f"{day:02}"
        )

    return made


_FIRST_NAME, _LAST_NAME = _word(_FIRST), _word(_LAST)
_NAME = _one_of(_joined(_LAST_NAME, ", ", _FIRST_NAME), _joined(_FIRST_NAME, " ", _LAST_NAME))
_BIRTH = _one_of(*(_day(form, 1930, 2015) for form in ("{y}-{mm}-{dd}", "{m}/{d}/{y}", "{y}{mm}{dd}")))
_VISIT_FORMS = ("{y}-{mm}-{dd}", "{m}/{d}/{yy:02}", "{dd}-{name}-{y}")
_CODE = _one_of(_digits(7), _joined(_letters(2), _digits(6)))
_TEN = _joined(_digits(4), " ", _digits(3), " ", _digits(3))
_STREET = _joined(_digits(3), " ", _word(_STREETS), " ", _word(["St", "Ave", "Rd"]))
_POSTAL = _joined("K", _digits(1), "A ", _digits(1), "B", _digits(1))
_PAYMENT = _joined("4", _digits(3), " ", _digits(4), " ", _digits(4), " ", _digits(4))
MAKERS: dict[str, Maker] = {
    "name": _NAME,
    "last": _LAST_NAME,
    "first": _FIRST_NAME,
    "clinician": _joined("Dr ", _LAST_NAME),
    "birth": _BIRTH,
    "visit": _one_of(*(_day(form, 2023, 2025) for form in _VISIT_FORMS)),
    "record": _one_of(_digits(6), _CODE),
    "phone": _joined(_word(["613-555-", "613555", "(902) 555-"]), _digits(4)),
    "card": _one_of(_TEN, _joined(_digits(10), _letters(2))),
    "quebec_card": _joined(_letters(4), _digits(8)),
    "ssn": _joined(_digits(3), "-", _digits(2), "-", _digits(4)),
    "payment": _PAYMENT,
    "street": _STREET,
    "town": _word(_TOWNS),
    "postal": _one_of(_POSTAL, _digits(5)),
    "account": _one_of(_digits(9), _joined("V", _digits(8))),
    "plan": _one_of(_joined(_letters(3), _digits(9)), _digits(8)),
    "device": _CODE,
    "code": _one_of(_joined(_letters(1), _digits(5)), _digits(6)),
    "age": lambda draw: str(draw.randint(90, 104)),
    "email": lambda draw: f"{draw.choice(_FIRST).lower()}{draw.randint(10, 99)}@example.org",
}


def kinds() -> list[tuple[EntityType, Maker, list[str]]]:
    """Return what follows words, how it is made, and the words."""
    lines = (Path(__file__).parent / "labels.txt").read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines if not line.startswith("#"))
    return [(EntityType(kind), MAKERS[maker], words.split("|")) for kind, maker, words in rows]
