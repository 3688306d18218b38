"""The largest contributions to P(PHI) as phrases: three for the decision that was made, one against it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp, log1p
from typing import Final

from phiscan.language import lazy_gettext as _
from phiscan.model import LIKE, TITLED

N_FOR: Final = 3  # the decision
N_AGAINST: Final = 1
AGAINST: Final = "but "  # prefix of the first reason against PHI, in English
_ROUNDING: Final = 1e-9
LEAST: Final = 0.1  # log-odds below which an input is no reason

# Phrases for a positive and a negative contribution of each input; "" = not shown, because what could be said
# does not speak for or against PHI by itself: of many names, an organization or a table either may be true.
WORDS: Final[dict[str, tuple[str, str]]] = {
    "words": (
        _("it is worded like a record of somebody's health"),
        _("it is not worded like a record of somebody's health"),
    ),
    "concepts": (_("it names several health concepts"), _("hardly any health concept was recognized in it")),
    "clinical": (
        _("it names an illness, drug, procedure or test"),
        _("no illness, drug, procedure or test was recognized in it"),
    ),
    "full_name": (_("a person's full name is in it or in its file's name"), ""),
    "name": (
        _("a person is named in it or in its file's name"),
        _("nobody was recognized in it, but for roles and senders"),
    ),
    "name_by_health": (_("a person's name is with a health term"), ""),
    "name_by_clinical": (_("a person's name is with an illness, drug, procedure or test"), ""),
    "people": (_("it names people several times"), ""),
    "record_number": (_("it holds a number that only a patient or insured person has"), ""),
    "direct_identifier": (_("it holds a number that singles out one person"), ""),
    "birth_date": (_("it holds a date of birth"), ""),
    "contact": (_("it holds an address, telephone number or e-mail"), ""),
    "date": (_("it gives a date"), ""),
    "professional": (_("a health professional is named"), ""),
    "role_name": (_("somebody is named for a role"), ""),
    "doubtful_name": (_("it holds what may be a name"), ""),
    **dict.fromkeys(("organization", "cells", "length"), ("", "")),
    "text_detector": (
        _("it is written and laid out like a record"),
        _("it is not written or laid out like a record"),
    ),
    "encoder": (
        _("it reads like health information about a person"),
        _("it does not read like health information about a person"),
    ),
    LIKE: (
        _("it is about the same as files that were decided to be PHI"),
        _("it is about the same as files that were decided not to be PHI"),
    ),
    "person": (
        _("it identifies a person"),
        _("no name, birth date or patient's number was recognized in it, but for roles and senders"),
    ),
    "no_concept": ("", _("no health concept was recognized in it")),
    "short_text": (_("it is short, and a name is with a health term in it"), ""),
    "person_and_words": (
        _("a person is identified where health is spoken of"),
        _("the person who is identified is not spoken of as a patient"),
    ),
}
# The sign of these values says which phrase is true.
_SIGNED: Final = frozenset(("words", "text_detector", "person_and_words", "encoder"))
# The least value of which the phrase for PHI is true, and the highest of which the one against it is, where
# these are not any value above 0, and 0: three concepts, one; two names; a name within a line of a term.
_LEAST: Final = {
    "concepts": log1p(3),
    "people": log1p(2),
    **dict.fromkeys(("name_by_health", "name_by_clinical"), exp(-1)),
}
_MOST: Final = {"concepts": log1p(1)}
OWN_PATIENT: Final = "own_patient"  # a match in the organization's patient index
PATH: Final = "file_name"  # what file, folders or members are called
FORMER_VERSION: Final = "former_version"  # what `phiscan learn` had activated before decides otherwise
FORMER_REFERS: Final = _("the learned version in use before would have referred it")
FORMER_SPARES: Final = _("the learned version in use before would not have referred it")
MESSAGES: Final = {
    PATH: _("the names of file, folder or member name a person beside an illness or care"),
    TITLED: _("the names of its file and folders tell of an illness or care"),
    OWN_PATIENT: _("it holds a patient of the organization's own list"),
    "hl7": _("it is an HL7 message about a patient"),
    "x12": _("it is an X12 message about an insured person"),
    "fhir": _("it holds FHIR resources of a patient"),
    "cda": _("it is a clinical document (CDA) of a patient"),
    "dicom": _("it is a DICOM object with a patient's name"),
}


def applies(name: str, value: float, contribution: float) -> bool:
    """Return whether the phrase of an input is true of its value, given the sign of its contribution.

    A contribution is the difference from the mean text without PHI, so that an input of negative weight has a
    positive contribution where it is absent: "it names people" is not true of a text without a name.

    >>> applies("people", 1.4, 0.3), applies("people", 0.7, 0.3), applies("people", 1.4, -0.3)
    (True, False, False)
    """
    if not WORDS[name][contribution < 0]:
        return False
    if name in _SIGNED:
        return value * contribution > 0
    if contribution > 0:
        return value > 0 and value >= _LEAST.get(name, 0.0) - _ROUNDING
    return value > 0 if name == "no_concept" else value <= _MOST.get(name, 0.0) + _ROUNDING


def strongest_reasons(
    contributions: Iterable[tuple[str, float]], *, is_referred: bool
) -> tuple[tuple[str, float], ...]:
    """Return the inputs to be shown with their contribution to the log-odds: for PHI, then against it.

    >>> strongest_reasons([("words", 2.0), ("person", -0.5), ("name", 0.01)], is_referred=True)
    (('words', 2.0), ('person', -0.5))
    """
    ordered = sorted(contributions, key=lambda item: (-abs(item[1]), item[0]))
    in_favour = [item for item in ordered if item[1] >= LEAST and WORDS.get(item[0], ("", ""))[0]]
    against = [item for item in ordered if item[1] <= -LEAST and WORDS.get(item[0], ("", ""))[1]]
    n_for, n_against = (N_FOR, N_AGAINST) if is_referred else (N_AGAINST, N_FOR)
    return (*in_favour[:n_for], *against[:n_against])


def sentences(reasons: Sequence[tuple[str, float]]) -> list[str]:
    """Return the reasons as phrases; the first one against PHI begins with "but".

    >>> sentences([("words", 2.0), ("no_concept", -0.5)])
    ["it is worded like a record of somebody's health", 'but no health concept was recognized in it']
    """
    found = []
    for name, weight in reasons:
        if name in MESSAGES:
            found.append(MESSAGES[name])
        elif name == FORMER_VERSION:
            found.append(FORMER_REFERS if weight > 0 else FORMER_SPARES)
        elif name in WORDS and (words := WORDS[name][weight < 0]):
            is_first = weight < 0 and not any(one.startswith(AGAINST) for one in found)
            found.append(_("but {reason}", reason=words) if is_first else words)
    return found


def versions_differ(reasons: Iterable[Sequence[tuple[str, float]]]) -> str:
    """Say of how many files the learned version in use and the former one decide otherwise; "" = of none.

    ``reasons``: of each file.
    """
    weights = [weight for of_file in reasons for name, weight in of_file if name == FORMER_VERSION]
    if not weights:
        return ""
    return _(
        "In the audit sample the learned version in use refers {new} that the former one would not, and "
        "spares {former} that it would refer; these are on the second list.",
        new=sum(weight < 0 for weight in weights),
        former=sum(weight > 0 for weight in weights),
    )
