"""The model card of the reader of numbers: what it learned from, and its figures on held-out texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from phiscan.screen.id_classifier.classifier import COUNTS, LEAST, LEAST_AGE, LEAST_TYPE, MAX_NUMBERS

_CARD = """# Model card: the reader of numbers

Tells which numbers and codes are somebody's where no rule has a label or a form for them: by their form, the
words around them, and who stands beside them. A logistic regression says that, and one for each type says of
which type a number likeliest is; they share {n_weights} features. A further one, of {n_age_weights} features,
tells which of the numbers from 90 to 125 are ages of somebody. Written by
[`phiscan train numbers`](train.md); do not edit.

## What it does on texts that it has not learned from

Each file is judged by weights that learned from all the others; our own texts by fifths. Recall and precision
in percent, of all numbers that are somebody's, whether rules find them or not; numbers that are days, phones
or parts of an address are left out. **New** are those that nothing else in the program finds: what the reader
adds there, right and false, and the share of those it shows whose type is right.

{table}

Ages over 89 in figures (those in words are left to the rules), of all numbers from 90 to 125 that stand as an
age might:

{ages}

* A number is shown from a chance of {least:.0%} (an age from {least_age:.0%}), and counts from {counts:.0%}:
  below, it is doubtful, sets no characteristic, and no decision rests on it. One that counts sets the
  characteristic of a unique number and no other, whatever its type: the type is a guess. An age that counts
  sets its own.
* A number of which a rule knows the form or a loose label, and hardly the type, gets another type where that
  is likely by {least_type_low:.0%} to {least_type_high:.0%}; it keeps its characteristic.
* The rules for numbers were made while these files were read, so they find most there. What the reader adds
  to texts that nobody has read stands in [marked texts](../explanation/marked-texts.md).
* Which numbers of our own texts are somebody's, and which are ages, was judged one by one, by several
  hands, each with the whole text before it, or marked by who wrote the text, and without a second opinion.
* Of a text with more than {max_numbers} numbers that nothing else has found, every n-th is looked at, and the
  findings say so.

## Learned from

{n_numbers} numbers and codes, {n_somebodys} of them somebody's. Every feature stands in {min_texts} texts
or more, so that no text can be read off the weights. Files by SHA-256:

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
