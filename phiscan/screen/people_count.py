"""How many people are at risk: findings belong to one person by nearness, row, label and repeated name."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from phiscan.model import Document, EntityType, Finding, PiiBit
from phiscan.screen.ner.tagger import SOURCE
from phiscan.screen.recognizers.person.file_names import SOURCE as FILE

# A person is at risk whom something besides the name identifies, or whom the document is about.
_OWN = frozenset({
    EntityType.DATE_OF_BIRTH, EntityType.SIN, EntityType.SSN, EntityType.HEALTH_CARD, EntityType.PASSPORT,
    EntityType.DRIVER_LICENSE, EntityType.MRN, EntityType.HEALTH_PLAN,
})  # fmt: skip
_FIRST, _LAST = frozenset({PiiBit.FIRST_NAME}), frozenset({PiiBit.LAST_NAME})
_SAME_ROW_CHARS = 30  # a label or a delimiter may be between the two


def count_people(document: Document, findings: Sequence[Finding]) -> int:
    """Estimate the number of distinct people whom the findings put at risk.

    A person is a name; a bare last name or first name is the person whose full name has it, so ``Mr. Roy``
    after ``Jean Roy`` is nobody new. Health professionals are not counted: the file is not about them.
    Numbers
    of one kind that a person has only one of (a health card, a date of birth) give a lower bound where
    names were missed: three health cards are three people.
    """
    names = {name_key(name) for name in names_of_people(document.text, findings)}
    n_named = len(_distinct(names - {()}))
    by_kind: dict[EntityType, set[str]] = {}
    for finding in findings:
        if finding.entity_type in _OWN:
            value = "".join(c for c in finding.span.of(document.text).upper() if c.isalnum())
            by_kind.setdefault(finding.entity_type, set()).add(value)
    return max(n_named, max((len(values) for values in by_kind.values()), default=0))


def names_of_people(text: str, findings: Sequence[Finding]) -> Iterator[str]:
    """Yield the names of people; a first name and a last name in two cells of one row are one name."""
    people = [f for f in findings if f.entity_type is EntityType.PERSON and not _is_bare_guess(f)]
    index = 0
    while index < len(people):
        name = people[index].span.of(text)
        following = people[index + 1] if index + 1 < len(people) else None
        if following is not None and {people[index].bits, following.bits} == {_FIRST, _LAST}:
            between = text[people[index].span.end : following.span.start]
            if len(between) <= _SAME_ROW_CHARS and between.count("\n") <= 1:
                name = f"{name} {following.span.of(text)}"
                index += 1
        yield name
        index += 1


def _is_bare_guess(finding: Finding) -> bool:
    """Tell whether it is too weak evidence of one more person: one word of the tagger's, or an account.

    A word of the tagger's that is in the name of the file is enough.
    """
    is_word = finding.source == SOURCE and len(finding.bits) == 1
    return not finding.bits or (is_word and all(reason.detail != FILE for reason in finding.reasons))


def name_key(name: str) -> tuple[str, ...]:
    """Return the words of a name in one form: no case, accents, titles, initials or order of the parts."""
    plain = unicodedata.normalize("NFD", name.casefold().replace("^", " ").replace(",", " "))
    letters = "".join(c if c.isalpha() or c in "'’-" else " " for c in plain if not unicodedata.combining(c))  # noqa: RUF001 (names are written with it)
    return tuple(sorted(word for word in letters.split() if len(word) > 1))


def _distinct(keys: Iterable[tuple[str, ...]]) -> list[frozenset[str]]:
    """Join names of which one has all words of the other, longest first."""
    people: list[frozenset[str]] = []
    by_word: dict[str, list[int]] = {}
    for key in sorted(keys, key=lambda k: (-len(k), k)):
        words = frozenset(key)
        if any(words <= people[index] for index in by_word.get(key[0], ())):
            continue
        for word in words:
            by_word.setdefault(word, []).append(len(people))
        people.append(words)
    return people
