"""The strongest inputs of P(PHI) in plain words: three for a referral, one against it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

N_FOR: Final = 3
N_AGAINST: Final = 1
LEAST: Final = 0.1  # log-odds below which an input is no reason

# What an input says where it speaks for PHI, and where against it; "" where that direction is no reason.
WORDS: Final[dict[str, tuple[str, str]]] = {
    "words": (
        "it is worded like a record of somebody's health",
        "it is not worded like a record of somebody's health",
    ),
    "concepts": ("it names several health concepts", "it names hardly any health concept"),
    "clinical": (
        "it names an illness, drug, procedure or test",
        "it names no illness, drug, procedure or test",
    ),
    "full_name": ("a person's full name is in the passage", "no full name is in the passage"),
    "name": ("a person is named in the passage", "nobody is named in the passage"),
    "name_by_health": (
        "a person's name is close to a health term",
        "no name is close to a health term",
    ),
    "name_by_clinical": (
        "a person's name is close to an illness, drug, procedure or test",
        "no name is close to an illness, drug, procedure or test",
    ),
    "people": ("several people are named in the passage", "many people are named in the passage"),
    "record_number": ("it holds a number that only a patient or insured person has", ""),
    "direct_identifier": ("it holds a number that singles out one person", ""),
    "birth_date": ("it holds a date of birth", ""),
    "contact": ("it holds an address, telephone number or e-mail", "its contact data looks like an office's"),
    "date": ("it gives a date", "its dates look like an office's"),
    "professional": ("a health professional is named", "its names are of health professionals"),
    "role_name": (
        "somebody is named for a role",
        "its names are of authors, staff or others with a role",
    ),
    "doubtful_name": ("it holds what may be a name", "its names are doubtful"),
    "organization": ("it names an organization", "it speaks of organizations"),
    "cells": ("it is a row of a table with many cells", "it is laid out like a table"),
    "length": ("the passage is long", "the passage is short"),
    "text_detector": (
        "the file is written and laid out like a record",
        "the file is not written or laid out like a record",
    ),
    "person": ("the passage identifies a person", "the passage identifies nobody"),
    "no_concept": ("", "it names no health concept"),
    "short_text": ("the text is short, and a name is next to a health term in it", ""),
    "person_and_words": (
        "a person is identified where health is spoken of",
        "the person who is identified is not spoken of as a patient",
    ),
}
OWN_PATIENT: Final = "own_patient"  # a match in the organization's patient index
MESSAGES: Final = {
    OWN_PATIENT: "it holds a patient of the organization's own list",
    "hl7": "it is an HL7 message about a patient",
    "x12": "it is an X12 message about an insured person",
    "fhir": "it holds FHIR resources of a patient",
    "cda": "it is a clinical document (CDA) of a patient",
    "dicom": "it is a DICOM object with a patient's name",
}


def strongest_reasons(contributions: Iterable[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    """Return the inputs to be shown with what they add to the log-odds: those for PHI, then one against.

    >>> strongest_reasons([("words", 2.0), ("people", -0.5), ("name", 0.01)])
    (('words', 2.0), ('people', -0.5))
    """
    ordered = sorted(contributions, key=lambda item: (-abs(item[1]), item[0]))
    speak_for = [item for item in ordered if item[1] >= LEAST and WORDS.get(item[0], ("", ""))[0]]
    against = [item for item in ordered if item[1] <= -LEAST and WORDS.get(item[0], ("", ""))[1]]
    return (*speak_for[:N_FOR], *against[:N_AGAINST])


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
            found.append(words if weight > 0 else f"but {words}")
    return found
