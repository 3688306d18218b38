"""The largest contributions to P(PHI) as phrases: three for a referral, one against it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from phiscan.language import lazy_gettext as _

N_FOR: Final = 3
N_AGAINST: Final = 1
AGAINST: Final = "but "  # prefix of a reason against, in English
LEAST: Final = 0.1  # log-odds below which an input is no reason

# Phrases for a positive and a negative contribution of each input; "" = not shown.
WORDS: Final[dict[str, tuple[str, str]]] = {
    "words": (
        _("it is worded like a record of somebody's health"),
        _("it is not worded like a record of somebody's health"),
    ),
    "concepts": (_("it names several health concepts"), _("it names hardly any health concept")),
    "clinical": (
        _("it names an illness, drug, procedure or test"),
        _("it names no illness, drug, procedure or test"),
    ),
    "full_name": (_("a person's full name is in the passage"), _("no full name is in the passage")),
    "name": (_("a person is named in the passage"), _("nobody is named in the passage")),
    "name_by_health": (
        _("a person's name is close to a health term"),
        _("no name is close to a health term"),
    ),
    "name_by_clinical": (
        _("a person's name is close to an illness, drug, procedure or test"),
        _("no name is close to an illness, drug, procedure or test"),
    ),
    "people": (_("several people are named in the passage"), _("many people are named in the passage")),
    "record_number": (_("it holds a number that only a patient or insured person has"), ""),
    "direct_identifier": (_("it holds a number that singles out one person"), ""),
    "birth_date": (_("it holds a date of birth"), ""),
    "contact": (
        _("it holds an address, telephone number or e-mail"),
        _("its contact data looks like an office's"),
    ),
    "date": (_("it gives a date"), _("its dates look like an office's")),
    "professional": (_("a health professional is named"), _("its names are of health professionals")),
    "role_name": (
        _("somebody is named for a role"),
        _("its names are of authors, staff or others with a role"),
    ),
    "doubtful_name": (_("it holds what may be a name"), _("its names are doubtful")),
    "organization": (_("it names an organization"), _("it speaks of organizations")),
    "cells": (_("it is a row of a table with many cells"), _("it is laid out like a table")),
    "length": (_("the passage is long"), _("the passage is short")),
    "text_detector": (
        _("the file is written and laid out like a record"),
        _("the file is not written or laid out like a record"),
    ),
    "person": (_("the passage identifies a person"), _("the passage identifies nobody")),
    "no_concept": ("", _("it names no health concept")),
    "short_text": (_("the text is short, and a name is next to a health term in it"), ""),
    "person_and_words": (
        _("a person is identified where health is spoken of"),
        _("the person who is identified is not spoken of as a patient"),
    ),
}
# Inputs whose phrase against PHI is about a degree, and those whose phrase against PHI states that something
# is present; the phrases against PHI of all others state that something is missing.
_OF_DEGREE: Final = frozenset(("concepts", "length"))
_AGAINST_BY_PRESENCE: Final = frozenset(
    (
        *("people", "contact", "date", "professional", "role_name", "doubtful_name"),
        *("organization", "cells", "no_concept"),
    )
)
OWN_PATIENT: Final = "own_patient"  # a match in the organization's patient index
MESSAGES: Final = {
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
    positive contribution where it is absent: "several people are named" is not true of a text without a name.

    >>> applies("people", 1.4, -0.3), applies("people", 0.0, 0.3)
    (True, False)
    """
    if contribution > 0:
        return value > 0
    return name in _OF_DEGREE or (value > 0) == (name in _AGAINST_BY_PRESENCE)


def strongest_reasons(contributions: Iterable[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    """Return the inputs to be shown with their contribution to the log-odds: for PHI, then one against.

    >>> strongest_reasons([("words", 2.0), ("people", -0.5), ("name", 0.01)])
    (('words', 2.0), ('people', -0.5))
    """
    ordered = sorted(contributions, key=lambda item: (-abs(item[1]), item[0]))
    in_favour = [item for item in ordered if item[1] >= LEAST and WORDS.get(item[0], ("", ""))[0]]
    against = [item for item in ordered if item[1] <= -LEAST and WORDS.get(item[0], ("", ""))[1]]
    return (*in_favour[:N_FOR], *against[:N_AGAINST])


def sentences(reasons: Sequence[tuple[str, float]]) -> list[str]:
    """Return the reasons as phrases; those against PHI begin with "but".

    >>> sentences([("words", 2.0), ("name", -0.5)])
    ["it is worded like a record of somebody's health", 'but nobody is named in the passage']
    """
    found = []
    for name, weight in reasons:
        if name in MESSAGES:
            found.append(MESSAGES[name])
        elif name in WORDS and (words := WORDS[name][weight < 0]):
            found.append(words if weight > 0 else _("but {reason}", reason=words))
    return found
