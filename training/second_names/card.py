"""The model card of the second name tagger: its training texts and its figures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from phiscan.screen.ner.second_tagger import FOLDER
from training.corpora.open_texts import ATTRIBUTION, FAMILIES, FOLDS

_HEADER = (
    "| set | words | person recall | tagger | person precision | tagger | unknown names, recall | tagger |"
    " persons beyond gold per 1,000 words | tagger |\n| --- |" + " ---: |" * 9
)
_FIGURES = (
    ("person_recall", "counted_recall", 1),
    ("person_precision", "counted_precision", 1),
    ("unknown_recall", "unknown_recall", 1),
    ("persons_beyond_gold_per_1000_words", "counted_beyond_gold_per_1000_words", 2),
)
_CARD = """# Model card: the second name tagger

Finds names of people, organizations and places in running text. A small spaCy network: hash embeddings of
each word's form, first letter, last letters and shape, a convolution over {depth} words on each side, and a
transition-based tagger. It refers no file; its verdicts are [a capture list on a
sample](../explanation/second-names.md). Written by [`phiscan train second-names`](train.md); do not edit.

| | the second tagger | the tagger |
| --- | --- | --- |
| kind | a network, trained by stochastic gradient | a linear-chain conditional random field |
| sees | the word as it is written, and its neighbours | the same; lists of names, places, health terms |
| run by | spaCy {spacy} | numpy alone |
| where | a random sample, near misses | every file |

## Recall and precision on unseen text

Tokens are runs without white space, all figures in percent. The columns "tagger" show the figures of the
names that count, from [the tagger's card](model-card-names.md), of the weights that were shipped when this
card was written; for unknown names, of all that are shown. Precision is missing where the source does not
mark every name.

{table}

* The foreign sets: each measured by a network trained **without the whole family of that set**, and without
  the held-out templates, as for the tagger. Families: {families}. Left out together: {folds}. The shipped
  network was trained on all.
* The settings were chosen after two measurements on the sets of sentences: with 4,000 documents of the
  generator and a constant rate 77.9% of the persons of presidio_synth_v2 were found at a precision of 73.9%;
  with 7,500, a decreasing rate and six epochs 83.4% at 73.8%; five epochs are used to save time. No errors
  were read, and no template was changed for it.
* Own texts, both halves, had been read by whoever wrote the templates.

## Trained on

The documents of the tagger: the generator's and the openly licensed sets with surrogates, {n_documents}
texts, {n_words} words, seed {seed}. Lines that may hold an unmarked name were cut out. Addresses count
as places.

| set | source and licence | SHA-256, first 16 digits |
| --- | --- | --- |
{sources}

Dictionaries and templates that the generator draws from:

| file | SHA-256, first 16 digits |
| --- | --- |
{files}

Settings: `{settings}`.

## The files

`second_names.npz` ({megabytes:.2f} MB): the network's arrays in half precision, read by numpy without pickle.
With them {n_unlike} of {n_compared} texts get spans that differ from single precision. `second_names.json`:
shape, labels, a hash of the arrays, these figures. No file of spaCy's own format is read or shipped. A hash
embedding stores no words: each row is shared by all words with the same hash.

## Limits

* It gives no probability: a name is found or not, and there is no threshold to set.
* It shares its training texts with the tagger, so a kind of name that they all lack is missed by both.
* English tokens; French and Latin letters as the generator writes them. Other scripts are not learned.
"""
N_COMPARED = 300


def render(card: Mapping[str, Any]) -> str:
    """Return the text of the card; ``card`` is what second_names.json says."""
    hashes: Mapping[str, str] = card["hashes"]
    tagger = json.loads((FOLDER / "names.json").read_text(encoding="utf-8")).get("figures", {})
    used = [name for name in ATTRIBUTION if name in hashes]
    sources = [f"| {name} | {ATTRIBUTION[name]} | {hashes[name][:16]} |" for name in used]
    return _CARD.format(
        table="\n".join(
            [_HEADER, *(_row(name, found, tagger.get(name, {})) for name, found in card["figures"].items())]
        ),
        families="; ".join(f"{family} ({', '.join(names)})" for family, names in FAMILIES.items()),
        folds="; ".join(" + ".join(some) for some in FOLDS.values()),
        sources="\n".join(sources) or "| none | the generator alone | - |",
        files="\n".join(f"| {name} | {digest[:16]} |" for name, digest in hashes.items() if "/" in name),
        settings=json.dumps(card["settings"]),
        seed=card["settings"]["seed"],
        depth=card["settings"]["depth"],
        n_unlike=card["n_unlike_single_precision"],
        n_compared=min(N_COMPARED, card["n_documents"]),
        **{key: card[key] for key in ("spacy", "n_documents", "n_words", "megabytes")},
    )


def _row(name: str, found: Mapping[str, Any], tagger: Mapping[str, Any]) -> str:
    def shown(figures: Mapping[str, Any], key: str, digits: int) -> str:
        value = figures.get(key)
        return "-" if value is None else f"{value:.{digits}f}"

    cells = [name, str(found["n_words"])]
    for mine, theirs, digits in _FIGURES:
        cells += [shown(found, mine, digits), shown(tagger, theirs, digits)]
    return "| " + " | ".join(cells) + " |"
