"""Organizations that the tagger took for people or places: "Ermineskin Jr Sr High", "SageWest Orthopedics".

A name of several words that ends in a word for an organization, or begins with a French one, is none of a
person, unless families are called after that word.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from phiscan.lexicon.gazetteer import Gazetteer, Word, fold
from phiscan.lexicon.organization_words import load_heads
from phiscan.model import EntityType, Finding, Reason
from phiscan.screen.characteristics import bits_of

_KINDS = frozenset((EntityType.PERSON, EntityType.LOCATION))
_BEHIND, _FRONT = frozenset(("any", "name", "firm")), "front"
_MAX_WORDS, _MIN_CHARS = 7, 4
# Words that only say an organization at the end of what looks like a name.
_TOO = frozenset(
    "ent irb practice ortho orthopedics orthopaedics research packing roofing hardware trucking air"  # noqa: SIM905 (a list of words reads best as a text)
    " airways aviation logistics plumbing welding tortilleria bakery cafe grill pub saloon newcomers"
    " correctional high middle elementary collegiate academy montessori preschool pediatrics"
    " dermatology cardiology oncology dental optical audiology imaging diagnostics labs paramedics ems"
    " ambulance staffing caterers catering sawmills lumber motors foods farms dairy meats fisheries"
    " seafoods mennonite lutheran presbyterian methodist baptist pentecostal evangelical anglican"
    " catholic".split()
)


@cache
def _heads() -> tuple[frozenset[str], frozenset[str]]:
    """Return the words that end the name of an organization, and those that begin one in French."""
    rows = load_heads()
    ends = {fold(word) for word, kind in rows if kind in _BEHIND}
    return frozenset(ends | _TOO), frozenset(
        fold(word) for word, kind in rows if kind == _FRONT and " " not in word
    )


def without_organizations(text: str, tagged: Iterable[Finding], gazetteer: Gazetteer) -> list[Finding]:
    """Return what the tagger found, with organizations for the names that say that they are one."""
    return [_told(text, finding, gazetteer) for finding in tagged]


def _told(text: str, finding: Finding, gazetteer: Gazetteer) -> Finding:
    words = finding.span.of(text).replace("\n", " ").split(" ") if finding.entity_type in _KINDS else []
    if not 1 < len(words) <= _MAX_WORDS or "\n" in finding.span.of(text) or "," in finding.span.of(text):
        return finding
    ends, fronts = _heads()
    last, first = fold(words[-1].strip(".,")), fold(words[0].strip(".,"))
    names = Word.FIRST | Word.LAST
    of_two = (" ".join(map(fold, words[-n:])) for n in (2, 3) if n < len(words))
    is_end = (last in ends and len(last) > 2 and not gazetteer.of(words[-1]) & names) or any(  # noqa: PLR2004 (letters)
        phrase in ends for phrase in of_two
    )
    is_front = first in fronts and not gazetteer.of(words[0]) & names and len(first) >= _MIN_CHARS
    if not (is_end or is_front) or not words[-1][:1].isupper() or gazetteer.is_place(finding.span.of(text)):
        return finding
    kind = EntityType.ORGANIZATION
    reason = Reason("head", last if is_end else first, finding.score)
    bits = bits_of(kind) if finding.bits else finding.bits
    return replace(finding, entity_type=kind, bits=bits, reasons=(*finding.reasons, reason))
