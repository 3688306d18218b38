"""The model card of the number classifier: its training texts, and its figures on held-out texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from phiscan.screen.id_classifier.classifier import COUNTS, LEAST, LEAST_AGE, LEAST_TYPE, MAX_NUMBERS

_CARD = """# Model card: the number classifier

Classifies numbers and codes that no rule covers by a label or a form: does a number identify a person?
Features are its form, the words around it, and the people named near it. The classifier is a logistic
regression; another one for each type of identifier gives the most likely type; they share {n_weights}
features. A further one, of {n_age_weights} features, decides which of the numbers from 90 to 125 are ages.
This page lists measured recall and precision, thresholds and training texts. In it, a number is *somebody's*
if it identifies a person. Written by [`phiscan train numbers`](train.md); do not edit.

## Recall and precision on texts left out of training

Each file is classified with weights trained on all the others; our own texts by five-fold cross-validation.
Recall and precision in percent, of all numbers that are somebody's, whether rules find them or not; dates,
phone numbers and parts of an address are left out. **New**: numbers that only the classifier finds, true and
false positives, and the share of the shown ones whose type is right.

{table}

Ages over 89 in figures (those in words are found by rules), of all numbers from 90 to 125 whose form an age
could have:

{ages}

* A number is shown from a probability of {least:.0%} (an age from {least_age:.0%}), and counts from
  {counts:.0%}: below, it is doubtful, sets no characteristic, and no decision rests on it. One that counts
  sets the characteristic of a unique number and no other, whatever its type: the type is a guess. An age that
  counts sets its own.
* A number that a rule finds by its form or by a general label, without a certain type, gets another type
  where that has a probability of {least_type_low:.0%} to {least_type_high:.0%}; its characteristic stays.
* The rules for numbers were written while these files were read, so they find most numbers there. What the
  classifier adds on unseen texts is in [marked texts](../explanation/marked-texts.md).
* Which numbers of our own texts are somebody's, and which are ages, was annotated one by one with the whole
  text in view, or by the text's author; every number has a single annotation.
* Of a text with more than {max_numbers} numbers that nothing else has found, every n-th is classified, and
  the findings say so.

## Training texts

{n_numbers} numbers and codes, {n_somebodys} of them somebody's. Every feature occurs in {min_texts} texts
or more, so that no text can be recovered from the weights. Files by SHA-256:

{hashes}
"""
_HEADER = (
    "| file | numbers | {} | shown: recall | precision | new | new and false"
    " | counted: recall | precision | new | new and false |"
)
_COLUMNS = (
    "n_numbers", "n_somebodys", "shown_recall", "shown_precision", "shown_new", "shown_new_false",
    "counted_recall", "counted_precision", "counted_new", "counted_new_false",
)  # fmt: skip


def render(card: Mapping[str, Any]) -> str:
    """Return the card as Markdown."""
    return _CARD.format(
        n_weights=len(card["weights"]),
        n_age_weights=len(card["ages"]["weights"]),
        table=_table("somebody's", card["figures"], (*_COLUMNS, "types_right")),
        ages=_table("ages", card["figures_of_ages"], _COLUMNS),
        least=LEAST,
        least_age=LEAST_AGE,
        least_type_low=min(min(by_source.values()) for by_source in LEAST_TYPE.values()),
        least_type_high=max(max(by_source.values()) for by_source in LEAST_TYPE.values()),
        counts=COUNTS,
        max_numbers=MAX_NUMBERS,
        n_numbers=card["n_numbers"],
        n_somebodys=card["n_somebodys"],
        min_texts=card["settings"]["min_texts"],
        hashes="\n".join(f"* `{name}`: `{digest}`" for name, digest in card["hashes"].items()),
    )


def _table(what: str, figures: Mapping[str, Mapping[str, Any]], columns: Sequence[str]) -> str:
    header = _HEADER.format(what) + (" new: type right |" if "types_right" in columns else "")
    rows = [
        f"| {name} | " + " | ".join("-" if row[key] is None else str(row[key]) for key in columns) + " |"
        for name, row in figures.items()
    ]
    return "\n".join([header, "| --- " + "| ---: " * len(columns) + "|", *rows])
